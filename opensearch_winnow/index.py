"""Defines Index, the front door: everything that can be done with a store."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from opensearch_winnow.clusters.options import DEFAULT_COMPARED, ClusteringOptions, Linkage, RunKeywords, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.boilerplate import RegisteredBoilerplate
from opensearch_winnow.operations.clustering import CLUSTERING, cluster_store
from opensearch_winnow.operations.history import Moment, history
from opensearch_winnow.operations.indexing import IndexingOptions, add_pages, index_sources
from opensearch_winnow.operations.lazy_store import LazyStore
from opensearch_winnow.operations.page_finder import PageFinder
from opensearch_winnow.operations.searches import Searches
from opensearch_winnow.operations.similar import SimilarPages
from opensearch_winnow.operations.watches import Watch, Watches, WatchReport
from opensearch_winnow.queries.boilerplate import NO_EXCLUSIONS, Boilerplate
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.frequency_check import DEFAULT_FREQUENT
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.results import FacetName, GroupBy, SearchResults
from opensearch_winnow.queries.search_request import DEFAULT_EXAMINE, DEFAULT_THRESHOLD, Cursor, SearchRequest
from opensearch_winnow.queries.thresholds import Thresholds
from opensearch_winnow.stores.store import ClusterSize, Statistics, Store

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class Index(Closing):
    """A store of pages: add pages, find near-duplicates and quoted passages, and search by words.

    Use it in a `with` block. Threads may share it, and take turns on a file; those with an index each need not wait.
    """

    def __init__(self, lazy_store: LazyStore) -> None:
        self.name = lazy_store.name
        self._lazy_store = lazy_store

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        *,
        scheme: Scheme | None = None,
        create: bool = True,
        key: str | None = None,
        client: OpenSearch | None = None,
        patient: bool = False,
    ) -> Index:
        """Open a store and return its index. `store` is a file, or an address such as `http://localhost:9200/pages`.

        A store that does not exist is created when pages are first added, with `scheme` (by default `Scheme()`); with
        `create=False`, that is an error. A store that exists keeps its scheme, and giving another one is an error. Pass
        the `key` of a scheme with a secret. With an address, `client` is an opensearch-py client to use; it stays open.
        Otherwise, requests are repeated for two seconds if need be: for two minutes if `patient`, as for a long run.
        """
        return cls(LazyStore(os.fspath(store), scheme, create=create, key=key, client=client, patient=patient))

    @property
    def store(self) -> Store:
        """The store itself, for lower-level access to its records. It must exist."""
        return self._lazy_store.get()

    @property
    def scheme(self) -> Scheme:
        """The store's scheme, or the one it will be created with."""
        return self._lazy_store.scheme

    # --- adding pages -------------------------------------------------------------------------------------------------

    def add(self, pages: Iterable[Page], *, crawl: str = "", failed: str | os.PathLike[str] | None = None) -> Report:
        """Add pages, and report what became of them: `.indexed`, `.unchanged`, `.skipped`, `.failed`.

        Failed pages are written to the file `failed`, by default the store's name with `.failed.jsonl`, which can be
        indexed again. If an exception is raised, the pages that were stored before it stay stored.
        """
        return add_pages(self._lazy_store, pages, crawl=crawl, failed=failed)

    def index(
        self,
        sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        **options: Unpack[IndexingOptions],
    ) -> Report:
        """Index all pages of `sources` and report what became of them, as the command `winnow index` does.

        A source is a web archive (WARC, ARC, WET, WACZ), a folder, JSON lines, Parquet, a pattern of names, or "-" for
        standard input. Pages are parsed in worker processes; a script needs no `if __name__ == "__main__":` for them.
        A run that is stopped, by `stop` or by Ctrl-C, keeps what is done; calling this again continues from there.
        """
        return index_sources(self._lazy_store, sources, **options)

    # --- asking -------------------------------------------------------------------------------------------------------

    def similar(
        self,
        *,
        url: str | None = None,
        id: str | None = None,  # noqa: A002 (what it is called everywhere else)
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
        min_resemblance: float | None = None,
        min_containment: float | None = None,
        min_contained: float | None = None,
        exact: bool = True,
        limit: int | None = 100,
        where: Filters = Filters(),
        all_captures: bool = False,
        guarantee: int | None = None,
        frequent: int = DEFAULT_FREQUENT,
        boilerplate: bool = True,
        max_seconds: float | None = None,
    ) -> Matches:
        """Return the pages that are similar to a question, the best first.

        The question is one of these: `url`, a page of the store by its latest capture (with `at`, the latest until
        then); `id`, a capture of the store; `text` or `html`, which need not be in the store.

        A match reaches every threshold that is given, each from 0 to 1: `min_resemblance` (the shared text, as a share
        of the text of both), `min_containment` (the share of the question that is in the page), and `min_contained`
        (the share of the page that is in the question). Matches are ordered by the first of these. Without any, a page
        finds its near-duplicates (`min_resemblance=0.5`), and a text finds the pages with half of it
        (`min_containment=0.5`). With `min_containment=0`, every page that shares a passage is a match.

        - `exact`: compare the texts. With False, or where a text is not stored, scores are estimates, without passages.
        - `limit`: the number of matches to return, None for all; `.total` counts all. Of many pages that share some
          passage, those that share the most are compared; `.uncompared` counts the others. `where` filters the pages.
        - `all_captures`: return every capture. By default, the best match of each URL, and none of the question's URL.
        - `guarantee`: a larger guarantee than the scheme's, which looks up fewer fingerprints: for a quick first look.
        - `frequent`: ignore fingerprints on more pages than this, but never all fingerprints of a passage.
        - `boilerplate`: leave out registered boilerplate. With False, it counts like any text.
        - `max_seconds`: then answer with the pages that were scored so far. `.unscored` counts the others.
        """
        record = self._pages.find(url=url, id_=id, text=text, html=html, at=at)
        is_stored = url is not None or id is not None
        thresholds = Thresholds.of(
            "resemblance" if is_stored else "containment",
            {"resemblance": min_resemblance, "containment": min_containment, "contained": min_contained},
        )
        exclusions = self._boilerplate.exclusions() if boilerplate else NO_EXCLUSIONS
        question = Question.of(record, self.scheme, exclusions, guarantee)
        return SimilarPages(self.store, question, thresholds, exclusions).find(
            exact=exact,
            where=where,
            limit=limit,
            frequent=frequent,
            exclude_url=record.url if is_stored else None,
            all_captures=all_captures,
            max_seconds=max_seconds,
        )

    def page(self, url: str, at: datetime | None = None) -> Record:
        """Return the latest capture of a URL; with `at`, the latest one until then."""
        return self._pages.latest(url, at)

    def capture(self, id: str) -> Record:  # noqa: A002
        """Return the capture with this id, the `id` of a card."""
        return self._pages.capture(id)

    def history(self, url: str, *, limit: int = 1_000, boilerplate: bool = True) -> list[Moment]:
        """Return the latest `limit` captures of a URL in order of time; those of unknown time come first.

        `.resemblance` compares each with the capture before it, exactly. It is None for the first capture, and where a
        text is not stored. With `boilerplate=False`, registered boilerplate counts like any text.
        """
        exclusions = self._boilerplate.exclusions() if boilerplate else NO_EXCLUSIONS
        moments = history(self.store, url, limit=limit, exclusions=exclusions)
        if not moments:
            raise self._pages.not_found(url)
        return moments

    def compare(self, a: str | Record, b: str | Record, *, boilerplate: bool = True) -> Comparison:
        """Compare two pages exactly, and return their scores and passages.

        `a` and `b` are URLs, which stand for their latest captures, or records that `page` or `capture` returned. With
        `boilerplate=False`, registered boilerplate counts like any text.
        """
        one, other = (self._pages.with_text(each) for each in (a, b))
        return compare(
            one.text,
            other.text,
            self.scheme,
            names=(one.url, other.url),
            boilerplate=self.boilerplate() if boilerplate else (),
            sites=(one.site, other.site),
        )

    def search(
        self,
        words: str = "",
        *,
        any_word: bool = False,
        group: bool = False,
        threshold: float = DEFAULT_THRESHOLD,
        by: GroupBy = "signature",
        examine: int = DEFAULT_EXAMINE,
        exact: bool = False,
        limit: int = 10,
        page: int = 1,
        where: Filters = Filters(),
        all_captures: bool = False,
        facets: Sequence[FacetName] = (),
        stable: bool = False,
        cursor: str | None = None,
    ) -> SearchResults:
        """Return the pages that have the words, the best first; of equals the newest, then the shortest URL.

        `words` is a query such as `apple "fruit tree" -pear mil* mill OR flour`. A page must have all words; with
        `any_word`, one is enough. `limit` is the number of hits on a page of results, and `page` its number, from 1.
        `where` filters the pages, and `facets` names fields whose values are counted. Only the latest capture of each
        URL is searched, unless `all_captures` is set, or `where` limits the crawl or the end of the period.

        With `group`, near-duplicate hits are one result: a hit that resembles the representative of an earlier group by
        at least `threshold` joins the first such group, as one of its `.members`; any other starts a new group.

        - `by`: "signature" compares the MinHashes of the hits; "cluster" uses the clusters that `cluster` has written
          to the store; "both" uses these clusters, and joins those whose best hits resemble each other.
        - `examine`: the minimum number of hits to group. If these are all, `.groups` is the exact number of groups;
          otherwise it is None, and the number is between `.at_least` and `.at_most`.
        - `exact`: compute the resemblance of all members from the texts, not only of those near the threshold.

        With `stable`, the results are frozen for some minutes: `search(cursor=results.cursor)` returns their next page.
        Whatever is written in between, no hit comes twice, and none is left out.
        """
        if cursor is not None:
            if words:
                raise QuestionError("a cursor contains its words: give words or a cursor, not both")
            return self._searches.following(Cursor.of(cursor))
        if not (all_captures or where.crawl or where.until):
            where = replace(where, latest=True)
        request = SearchRequest(
            words=words,
            any_word=any_word,
            where=where,
            group=group,
            threshold=threshold,
            by=by,
            examine=examine,
            exact=exact,
            limit=limit,
            facets=tuple(facets),
        )
        return self._searches.results(request, page - 1, keep_open=stable)

    def statistics(self) -> Statistics:
        """Return what the store holds, how often fingerprints repeat, and what the bytes are used for."""
        return self.store.statistics()

    def cluster(
        self,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        linkage: Linkage = "representatives",
        fast: bool = False,
        compared: int = DEFAULT_COMPARED,
        write_back: bool = True,
        **settings: Unpack[RunKeywords],
    ) -> ClusteringResult:
        """Find the clusters of near-duplicate pages in the whole store, and write the changed clusters to it.

        In order of time, each page joins the first representative that it resembles by at least `threshold`, or becomes
        one itself; with `linkage="components"`, chains of such pages are one cluster. With `fast`, only pages that
        share a band are compared; `compared` limits the comparisons of a page by one band or shingle. With
        `write_back=False`, the store is left unchanged.

        `settings`: `engine` is "duckdb" or "spark"; `output` and `evidence` name Parquet tables to write, `overwrite`
        replaces existing ones; `state` is a folder that makes the next run compare only new pages; `memory` ("2GB"),
        `threads` and `work` (a folder for temporary files) limit DuckDB; `spark` has settings of Spark; `progress` is
        called with the phase, the amount done and the total.
        """
        options = ClusteringOptions(threshold=threshold, linkage=linkage, fast=fast, compared=compared)
        return cluster_store(self.store, options, RunSettings(**settings), write_back=write_back)

    def clustering(self) -> dict[str, Any] | None:
        """Return the summary of the last clustering written to the store, as JSON values; None if there is none.

        It includes the `threshold`, `linkage` and `fast` of that run, and its time `at`. Pages added or deleted later
        do not change it.
        """
        summary: dict[str, Any] | None = self.store.setting(CLUSTERING)
        return summary

    def clusters(
        self, *, least: int = 2, site: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[ClusterSize]:
        """Return the clusters of at least `least` pages, largest first, then by id: `limit` of them from `offset`.

        Each capture counts as a page. With `site`, only clusters that have a page on it are returned.
        """
        return self.store.clusters(least=least, site=site, limit=limit, offset=offset)

    def cluster_members(self, cluster: str, *, limit: int = 100, offset: int = 0) -> list[Card]:
        """Return the pages of a cluster, oldest first (unknown last), then by URL: `limit` of them from `offset`."""
        selection = Selection(clusters=(cluster,))
        return list(self.store.scan(Card, selection, order="oldest", limit=limit, offset=offset))

    # --- boilerplate --------------------------------------------------------------------------------------------------

    def boilerplate(self) -> list[Boilerplate]:
        """Return the boilerplate that was added or learned, by name."""
        return self._boilerplate.read()

    def add_boilerplate(self, name: str, text: str, site: str | None = None) -> Boilerplate:
        """Register a text, such as a licence or a template, as boilerplate: it no longer counts as evidence of copying.

        With a `site`, it is boilerplate only between pages of that site. It replaces boilerplate of the same name.
        """
        added = Boilerplate(name, text, site)
        self._boilerplate.add(added)
        return added

    def remove_boilerplate(self, name: str) -> None:
        """Remove the boilerplate of this name: its text counts again."""
        self._boilerplate.remove(name)

    def learn_boilerplate(self, site: str | None = None, *, share: float = 0.5, pages: int = 10) -> list[Boilerplate]:
        """Learn the template of a `site`, or of every site, register it, and return what was learned.

        A template is the text on at least this `share` of the site's pages. A site needs at least `pages` pages, not
        counting near-duplicates. What was learned of these sites before is replaced. Pages without a site, such as
        files, are left out; `site=""` learns a template from them.
        """
        return self._boilerplate.learn(site, share=share, pages=pages)

    # --- watches ------------------------------------------------------------------------------------------------------

    def watches(self) -> list[Watch]:
        """Return the watches of the store, by name. A watch is a saved question."""
        return self._watches.read()

    def add_watch(
        self,
        name: str,
        *,
        url: str | None = None,
        text: str | None = None,
        min_containment: float = 0.3,
        seen: bool = True,
        replace: bool = False,
    ) -> Watch:
        """Save a question as a watch: which pages contain at least `min_containment` of the page `url`, or of a `text`?

        `url` stands for its latest capture at the time of each check. Pages that match now are not reported as new
        later, unless `seen` is False. With `replace`, the watch may replace another of the same name.
        """
        watch = Watch(name=name, url=url, text=text, min_containment=min_containment, at=datetime.now(UTC))
        self._watches.add(watch, seen=seen, replace=replace)
        return watch

    def remove_watch(self, name: str) -> None:
        """Delete a watch."""
        self._watches.remove(name)

    def check_watch(self, name: str) -> WatchReport:
        """Ask the question of a watch again: `.matches` are the best 1,000, and `.new` the ids of those with a new URL.

        They stay new until you call `mark_seen`.
        """
        return self._watches.check(name)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """Mark captures as seen: they and later captures of their URLs are no longer new. The last 10,000 are kept."""
        self._watches.mark_seen(name, ids)

    @cached_property
    def _watches(self) -> Watches:
        return Watches(self.store, self.similar)

    @cached_property
    def _pages(self) -> PageFinder:
        return PageFinder(self.store)

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.store, self._boilerplate.exclusions)

    @cached_property
    def _boilerplate(self) -> RegisteredBoilerplate:
        return RegisteredBoilerplate(self.store)

    def close(self) -> None:
        """Close the store. Leaving a `with` block does this too."""
        self._lazy_store.close()
