"""Defines Index, the front door: everything that can be done with a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from opensearch_winnow.clusters.options import (
    DEFAULT_COMPARED,
    ClusteringOptions,
    Linkage,
    RunKeywords,
    RunSettings,
)
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.clustering import CLUSTERING, cluster_store
from opensearch_winnow.operations.deletion import DeletionReport, DeletionRequest, delete_pages
from opensearch_winnow.operations.index_captures import CaptureMethods
from opensearch_winnow.operations.index_settings import SettingsMethods
from opensearch_winnow.operations.indexing import IndexingOptions, add_pages, index_sources
from opensearch_winnow.operations.lazy_store import LazyStore
from opensearch_winnow.operations.rotation import RotationReport, rotate
from opensearch_winnow.operations.searches import Searches
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.results import FacetName, GroupBy, SearchResults
from opensearch_winnow.queries.search_request import BEST, DEFAULT_EXAMINE, DEFAULT_THRESHOLD, Cursor, SearchRequest
from opensearch_winnow.stores.blocked_pages import blocked_entries, change_blocked, related_entry
from opensearch_winnow.stores.store import ClusterSize, Statistics

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class Index(CaptureMethods, SettingsMethods):
    """A store of pages: add pages, find near-duplicates and quoted passages, and search by words.

    Use it in a `with` block. Threads may share it, and take turns on a file; those with an index each need not wait.
    """

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
        `create=False`, that is an error. A store that exists keeps its scheme, and giving another one is an error.
        `key` is the secret key of the scheme, by default that in the file that the variable WINNOW_KEY_FILE names. With
        an address, `client` is an opensearch-py client to use; it stays open. Otherwise, requests are repeated for two
        seconds if need be: for two minutes if `patient`, as for a long run.
        """
        return cls(LazyStore(os.fspath(store), scheme, create=create, key=key, client=client, patient=patient))

    # --- adding pages -------------------------------------------------------------------------------------------------

    def add(
        self,
        pages: Iterable[Page],
        *,
        crawl: str = "",
        failed: str | os.PathLike[str] | None = None,
        on_findings: Callable[[Sequence[Finding]], object] | None = None,
    ) -> Report:
        """Add pages, and report what became of them: `.indexed`, `.unchanged`, `.skipped`, `.failed`.

        Failed pages are written to the file `failed`, by default the store's name with `.failed.jsonl`, which can be
        indexed again. If an exception is raised, the pages that were stored before it stay stored.

        New pages are checked against all watches of the store. `.findings` has the matches, which are also in
        `watch_log`; `on_findings` is called with each batch of them.
        """
        return add_pages(self._lazy_store, pages, crawl=crawl, failed=failed, on_findings=on_findings)

    def index(
        self,
        sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        **options: Unpack[IndexingOptions],
    ) -> Report:
        """Index all pages of `sources` and report what became of them, as the command `winnow index` does.

        A source is a web archive (WARC, ARC, WET, WACZ), a folder, JSON lines, CSV, Parquet, a pattern of names, or
        "-" for standard input. `id_field`, `text_field`, `title_field` and `url_field` name the fields of rows that
        have others than the usual ones.

        Pages are parsed in worker processes; a script needs no `if __name__ == "__main__":` for them.
        A run that is stopped, by `stop` or by Ctrl-C, keeps what is done; calling this again continues from there.
        """
        return index_sources(self._lazy_store, sources, **options)

    def delete(
        self,
        urls: str | Iterable[str] = (),
        *,
        ids: Iterable[str] = (),
        words: str | None = None,
        where: Filters = Filters(),
        dry_run: bool = False,
        block: bool = False,
        erase: bool = True,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> DeletionReport:
        """Delete all captures of `urls`, captures by their `ids`, or all captures that a search for `words` finds.

        `where` limits this to some captures; alone, it selects all captures that meet it. A URL that ends with `*`
        stands for all URLs that begin so. In a `dry_run`, nothing is deleted, and the report says what would be. With
        `block`, the `urls`, or the site of `where`, are never indexed again.

        The report says what else has changed: pages whose cluster has lost its representative are clustered again, the
        templates of their sites are learned again, and watches forget them. With `erase`, the files of the store are
        then written anew without the bytes of deleted pages, which takes time: see docs/deleting.md. `progress` is
        called with the phase, the amount done and the total; if `stop` returns true, the rest is left.
        """
        request = DeletionRequest(
            urls=[urls] if isinstance(urls, str) else list(urls), ids=list(ids), words=words, where=where
        )
        return delete_pages(
            self.store, request, dry_run=dry_run, block=block, erase=erase, progress=progress, stop=stop
        )

    def blocked(self) -> list[str]:
        """Return what `delete` has blocked: URLs, beginnings of URLs (`http://example.org/*`), `site:example.org`."""
        return blocked_entries(self.store)

    def unblock(self, entries: Collection[str]) -> None:
        """Let pages be indexed again that were blocked. `entries` are some of those that `blocked` returns."""
        if unknown := sorted(set(entries).difference(self.blocked())):
            known = [other for entry in unknown if (other := related_entry(self.store, entry))]
            hint = f"; there is {', '.join(dict.fromkeys(known))}" if known else ""
            raise QuestionError(f"{self.name} does not block {', '.join(unknown)}{hint}")
        change_blocked(self.store, remove=entries)

    def rotate(self, *, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> RotationReport:
        """Store other fingerprints of each page, in a store of the selection koala, or continue a stopped rotation.

        Pages are found before, meanwhile and afterwards: a question looks up the fingerprints of every epoch. The texts
        must be stored. `progress` is called with the phase, the amount done and the total; if `stop` returns true, the
        rest is left for the next call.
        """
        return rotate(self.store, progress=progress or no_progress, stop=stop or (lambda: False))

    # --- asking -------------------------------------------------------------------------------------------------------

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
        representative: str = BEST,
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
        - `representative`: the page shown for a group: the "best" hit, its "earliest" or "newest" capture, the
          "longest" page, the one that most pages of the group name as "canonical", or the best hit on a preferred site
          ("site:a.org,b.org"). The groups stay the same.

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
            representative=representative,
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
        representative: str = "earliest",
        write_back: bool = True,
        **settings: Unpack[RunKeywords],
    ) -> ClusteringResult:
        """Find the clusters of near-duplicate pages in the whole store, and write the changed clusters to it.

        In order of time, each page joins the first representative that it resembles by at least `threshold`, or becomes
        one itself; with `linkage="components"`, chains of such pages are one cluster. With `fast`, only pages that
        share a band are compared; `compared` limits the comparisons of a page by one band or shingle. With
        `write_back=False`, the store is left unchanged.

        `representative` is the page that each cluster is named after, whichever page the others have joined: its
        "earliest" or "newest" capture, the "longest" page, the one that most pages of the cluster name as "canonical",
        or the earliest on a preferred site ("site:a.org,b.org").

        `settings`: `engine` is "duckdb" or "spark"; `output` and `evidence` name Parquet tables to write, `overwrite`
        replaces existing ones; `state` is a folder that makes the next run compare only new pages; `memory` ("2GB"),
        `threads` and `work` (a folder for temporary files) limit DuckDB; `spark` has settings of Spark; `progress` is
        called with the phase, the amount done and the total.
        """
        options = ClusteringOptions(
            threshold=threshold, linkage=linkage, fast=fast, compared=compared, representative=representative
        )
        return cluster_store(self.store, options, RunSettings(**settings), write_back=write_back)

    def clustering(self) -> dict[str, Any] | None:
        """Return the summary of the last clustering written to the store, as JSON values; None if there is none.

        It includes the `threshold`, `linkage`, `fast` and `representative` of that run, and its time `at`. Pages added
        or deleted later do not change it.
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

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.store, self._boilerplate.exclusions)
