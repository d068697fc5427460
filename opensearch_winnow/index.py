"""The index: a store, and what can be done with it. The one place where the rooms meet."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from opensearch_winnow.operations.indexing import IndexingOptions, add_pages, index_sources
from opensearch_winnow.operations.page_finder import PageFinder
from opensearch_winnow.operations.clustering import CLUSTERING, cluster_store
from opensearch_winnow.clusters.asked import COMPARED, Clustering, Linkage
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.clusters.run import How
from opensearch_winnow.operations.history import Moment, history
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.lazy_store import LazyStore
from opensearch_winnow.queries.asked import Asked, QuestionError
from opensearch_winnow.queries.boilerplate import NOTHING, Boilerplate
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.cursors import EXAMINED, THRESHOLD, Cursor, SearchRequest
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.frequency_check import FREQUENT
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.results import FacetName, SearchResults, Way
from opensearch_winnow.operations.registered_boilerplate import RegisteredBoilerplate
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.searches import Searches
from opensearch_winnow.operations.similar import SimilarPages
from opensearch_winnow.stores.store import ClusterSize, Statistics, Store
from opensearch_winnow.operations.watches import LOOKED_AT, Watch, Watches, WatchReport

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class Index:
    """Pages in a store: add some, and ask for copies, for passages, for words. Used as a context.

    An index is for one thread at a time; open another for another.
    """

    def __init__(self, opened: LazyStore) -> None:
        self.name = opened.name
        self._opened = opened

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        *,
        scheme: Scheme | None = None,
        create: bool = True,
        key: str | None = None,
        client: OpenSearch | None = None,
    ) -> Index:
        """Open the store of this name: a file, or `http://localhost:9200/pages`.

        One that does not exist is made as pages are added, with the `scheme` (by default `Scheme()`), unless `create`
        is false. One that exists has its scheme; giving another is refused. `key` is that of a scheme with a secret.
        A `client` of opensearch-py is used for a cluster, instead of one that is made from the address; it stays open.
        """
        return cls(LazyStore(os.fspath(store), scheme, create=create, key=key, client=client))

    @property
    def store(self) -> Store:
        """Where the pages are, for those who want less than an answer; opened as it is asked for."""
        return self._opened.get()

    @property
    def scheme(self) -> Scheme:
        """That of the store, or the one that it will be made with."""
        return self._opened.scheme

    # --- the way in ---------------------------------------------------------------------------------------------------

    def add(
        self,
        pages: Iterable[Page],
        *,
        crawl: str = "",
        failed: str | os.PathLike[str] | None = None,
    ) -> Report:
        """Add pages, and say what became of them: `.indexed`, `.unchanged`, `.skipped`, `.failed`.

        Pages that fail are kept in the file `failed`, by default the store's name with `.failed.jsonl`, which can be
        indexed again. What is stored when this returns, or when an exception leaves it, stays.
        """
        return add_pages(self._opened, pages, crawl=crawl, failed=failed)

    def index(
        self,
        sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        **options: Unpack[IndexingOptions],
    ) -> Report:
        """Index all pages of `sources` and report what became of them, as the command `winnow index` does.

        A source is a web archive (WARC, ARC, WET, WACZ), a folder, JSON lines, Parquet, a pattern of names, or "-" for
        standard input. Pages are parsed in worker processes; a script needs no `if __name__ == "__main__":` for them.
        A run that was stopped, by `stop` or by Ctrl-C, keeps what is done, and calling this again goes on from there.
        """
        return index_sources(self._opened, sources, **options)

    # --- the way out --------------------------------------------------------------------------------------------------

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
        frequent: int = FREQUENT,
        boilerplate: bool = True,
    ) -> Matches:
        """The pages that are similar to a page in the store (`url`, its latest capture or the last one until `at`; or
        the capture `id`), to a `text`, or to `html`: the best first.

        A match has every minimum that is given: `min_resemblance`, `min_containment` (of the question in the page) and
        `min_contained` (of the page in the question). With none, a page is asked for its near-duplicates, resemblance
        at least .5, and a text for the pages that have half of it. With `min_containment=0` every page matches that
        shares a passage.

        Scores are computed from both texts; with `exact=False`, or where a text is not stored, they are estimates, with
        their standard error and without passages. Fingerprints on more than `frequent` pages are ignored, but never all
        of a passage. `guarantee` is a larger guarantee threshold than the scheme's, for a quick first look. With
        `boilerplate=False` what is registered as boilerplate counts as any text.

        Of the captures of a URL the best match is shown, and those of the URL that is asked about are not;
        `all_captures` shows all.
        """
        record = self._asked.given(url=url, id_=id, text=text, html=html, at=at)
        of_store = url is not None or id is not None
        asked = Asked.of(
            "resemblance" if of_store else "containment",
            {"resemblance": min_resemblance, "containment": min_containment, "contained": min_contained},
        )
        exclusions = self._boilerplate.exclusions() if boilerplate else NOTHING
        question = Question.of(record, self.scheme, exclusions, guarantee)
        return SimilarPages(self.store, question, asked, exclusions).find(
            exact=exact,
            where=where,
            limit=limit,
            frequent=frequent,
            leave_out=record.url if of_store else None,
            all_captures=all_captures,
        )

    def page(self, url: str, at: datetime | None = None) -> Record:
        """The latest capture of a URL; or the last one until `at`."""
        return self._asked.latest(url, at)

    def capture(self, id: str) -> Record:  # noqa: A002
        """The capture of this id, which `card.id` tells."""
        return self._asked.capture(id)

    def history(self, url: str, *, limit: int = 1_000, boilerplate: bool = True) -> list[Moment]:
        """The captures of a URL in the order of time, the latest `limit` of them; one without a time is the first.

        Each has its resemblance to the one before it, exactly; None for the first, or where a text is not stored.
        """
        exclusions = self._boilerplate.exclusions() if boilerplate else NOTHING
        found = history(self.store, url, limit=limit, exclusions=exclusions)
        if not found:
            raise self._asked.not_there(url)
        return found

    def compare(self, a: str | Record, b: str | Record, *, boilerplate: bool = True) -> Comparison:
        """Compare two pages exactly: the latest captures of URLs, or captures that `page` or `capture` has read."""
        one, other = (each if isinstance(each, Record) else self.page(each) for each in (a, b))
        for page in (one, other):
            if not page.text:
                raise QuestionError(f"{self.name} does not have the text of {page.url}")
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
        threshold: float = THRESHOLD,
        by: Way = "signature",
        examine: int = EXAMINED,
        exact: bool = False,
        limit: int = 10,
        page: int = 1,
        where: Filters = Filters(),
        all_captures: bool = False,
        facets: Sequence[FacetName] = (),
        stable: bool = False,
        cursor: str | None = None,
    ) -> SearchResults:
        """The pages that have all the words, or with `any_word` one of them: `apple "fruit tree" -pear mil* a OR b`.

        The best come first; of equals the newest, then the one with the shortest URL. `page` 2 is the next few.

        With `group` pages that resemble each other are one result: each joins the first page, in this order, that it
        resembles at least as the `threshold` says, and `.members` of that one are the others. So many hits at least as
        `examine` says are looked at; `.groups` is exact when all were, and else None, between `.at_least` and
        `.at_most`. Resemblances near the threshold are computed from the texts, with `exact` those that are shown
        too. `by` is "signature" (from what is stored beside the texts), "cluster" (what batch clustering has found), or
        "both": clusters, of which those that resemble each other are one result.

        Of each URL the latest capture is searched; with `all_captures`, or where a crawl or an end is asked for, which
        the latest one may be after, all of them.

        With `stable` the results of this moment are kept for some minutes, and `search(cursor=results.cursor)` has the
        next page of them, whatever is written meanwhile: nothing comes twice, and nothing is left out.
        """
        if cursor is not None:
            if words:
                raise QuestionError("a cursor knows its words: give one of them, not both")
            return self._searches.following(Cursor.of(cursor))
        if page < 1:
            raise QuestionError(f"pages of results are counted from 1: there is no page {page}")
        if not (all_captures or where.crawl or where.until):
            where = replace(where, latest=True)
        asked = SearchRequest(
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
        return self._searches.results(asked, page - 1, kept=stable)

    def statistics(self) -> Statistics:
        """What is in the store, how often fingerprints repeat, and what takes the bytes."""
        return self.store.statistics()

    def cluster(
        self,
        *,
        threshold: float = THRESHOLD,
        linkage: Linkage = "representatives",
        fast: bool = False,
        compared: int = COMPARED,
        write_back: bool = True,
        **how: Unpack[How],
    ) -> Found:
        """Find the clusters of near-duplicate pages in the whole store, and tell it which pages have another.

        A page joins the first page, in the order of time, that it resembles at least as the `threshold` says and that
        is a representative. With `fast` only pages that share a band are compared. `output` and `evidence` name Parquet
        files to write; `engine` is "duckdb" or "spark". With `write_back=False` the store is told nothing.
        """
        asked = Clustering(threshold=threshold, linkage=linkage, fast=fast, compared=compared)
        return cluster_store(self.store, asked, write_back=write_back, **how)

    def clustering(self) -> dict[str, Any] | None:
        """What the last clustering that was written back has found, in JSON values: as `Found.as_document` has it, with
        its `threshold`, `linkage`, `fast`, and when it was (`at`). What was added or deleted since is not in it."""
        found: dict[str, Any] | None = self.store.setting(CLUSTERING)
        return found

    def clusters(self, *, least: int = 2, limit: int = 100, offset: int = 0) -> list[ClusterSize]:
        """The clusters of so many pages at least, as the store has them now: the largest first, then by id."""
        return self.store.clusters(least=least, limit=limit, offset=offset)

    def cluster_members(self, cluster: str, *, limit: int = 100, offset: int = 0) -> list[Card]:
        """The pages of a cluster in its order: by time (unknown last), then the shortest URL, then by URL."""
        selection = Selection(cluster=cluster)
        return list(self.store.scan(Card, selection, order="oldest", limit=limit, offset=offset))

    # --- boilerplate --------------------------------------------------------------------------------------------------

    def boilerplate(self) -> list[Boilerplate]:
        """What was added or learned, by name."""
        return self._boilerplate.read()

    def add_boilerplate(self, name: str, text: str, site: str | None = None) -> Boilerplate:
        """From now on this text, a licence or a template, is no evidence of copying; with a `site`, on its pages only.

        It takes the place of another of the same name.
        """
        added = Boilerplate(name, text, site)
        self._boilerplate.add(added)
        return added

    def remove_boilerplate(self, name: str) -> None:
        """From now on the text of this name counts as any other."""
        self._boilerplate.remove(name)

    def learn_boilerplate(self, site: str | None = None, *, share: float = 0.5, pages: int = 10) -> list[Boilerplate]:
        """Learn the template of a site, or of each: the text on this share of its pages, of which there are so many.

        What was learned before of these sites is forgotten. Pages without a site, as files are, are of no site in
        common, unless it is asked for as "".
        """
        return self._boilerplate.learn(site, share=share, pages=pages)

    # --- watches ------------------------------------------------------------------------------------------------------

    def watches(self) -> list[Watch]:
        """The questions that are kept in the store to be asked again, by name."""
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
        """Keep a question: which pages have so much of the page `url` (its latest capture then), or of a `text`?

        What is there now is not new when it is checked, unless `seen` is false. With `replace` it takes the place of
        another of the same name.
        """
        watch = Watch(name=name, url=url, text=text, min_containment=min_containment, at=datetime.now(UTC))
        self._watches.add(watch, seen=seen, replace=replace)
        return watch

    def remove_watch(self, name: str) -> None:
        """It is no longer asked."""
        self._watches.remove(name)

    def check_watch(self, name: str) -> WatchReport:
        """Ask it again: `.matches`, the best 1,000, and of them `.new`, the ids of captures of URLs that are new.

        They stay new until `mark_seen`.
        """
        return self._watches.check(name)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """These captures, and later ones of their URLs, are no longer new. A watch remembers the last 10,000."""
        self._watches.mark_seen(name, ids)

    @cached_property
    def _watches(self) -> Watches:
        return Watches(
            self.store,
            lambda watch: self.similar(
                url=watch.url, text=watch.text, min_containment=watch.min_containment, limit=LOOKED_AT
            ),
        )

    @cached_property
    def _asked(self) -> PageFinder:
        return PageFinder(self.store)

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.store, self._boilerplate.exclusions)

    @cached_property
    def _boilerplate(self) -> RegisteredBoilerplate:
        return RegisteredBoilerplate(self.store)

    def close(self) -> None:
        """Close the store; the end of a `with` does it too."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
