"""Defines Index, the front door: everything that can be done with a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from opensearch_winnow.clusters.options import ClusteringOptions, ClusterRun, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult, LastClustering
from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.keywords import takes, with_options
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.finding import Finding, Findings
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.history import History, HistoryQuestion, history
from opensearch_winnow.operations.asking.locate import Located, LostPage, locate
from opensearch_winnow.operations.asking.nothing_found import (
    NoHit,
    NoMatch,
    UnmatchedQuestion,
    WordSearch,
    search_for_words,
    why_no_hit,
)
from opensearch_winnow.operations.asking.page_comparer import sketched_pages
from opensearch_winnow.operations.asking.page_finder import PageFinder, known_spellings
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.operations.asking.similar_batch import AnyQuestion, SimilarBatch
from opensearch_winnow.operations.asking.sources import TextSources, sources
from opensearch_winnow.operations.asking.versions import Versions, VersionsQuestion, versions
from opensearch_winnow.operations.asking.watch_log import LogQuestion, WatchLog
from opensearch_winnow.operations.asking.watches import (
    AddingOptions,
    NewWatch,
    Watch,
    Watches,
    WatchList,
    WatchReport,
)
from opensearch_winnow.operations.clusters.cluster_details import ClusterDetails, ClusterDetailsOptions, cluster_details
from opensearch_winnow.operations.clusters.cluster_list import ClusterList, ClusterListOptions, cluster_list
from opensearch_winnow.operations.clusters.clustering import cluster_store
from opensearch_winnow.operations.clusters.left_clusters import last_clustering
from opensearch_winnow.operations.crawl_states import comparable_crawls, crawl_states
from opensearch_winnow.operations.crawls.changes import Changes, ChangesQuestion
from opensearch_winnow.operations.crawls.crawl_comparison import changes
from opensearch_winnow.operations.crawls.deletion import DeletionReport, DeletionRequest, delete_pages
from opensearch_winnow.operations.crawls.destinations import StoreDestination
from opensearch_winnow.operations.crawls.export import ExportOptions, ExportReport, export
from opensearch_winnow.operations.crawls.export_source import StoredRecords
from opensearch_winnow.operations.crawls.extract import ExtractOptions, ExtractReport, extract
from opensearch_winnow.operations.crawls.indexing import IndexingOptions, add_pages, index_sources
from opensearch_winnow.operations.searching.searches import Searches, known_site, unknown_filters
from opensearch_winnow.operations.sets.pairs import PairsQuestion, find
from opensearch_winnow.operations.upkeep.boilerplate import LearningOptions, RegisteredBoilerplate
from opensearch_winnow.operations.upkeep.overview import Overview, StoreOverview
from opensearch_winnow.operations.upkeep.rotation import RotationReport, rotate
from opensearch_winnow.operations.upkeep.store_figures import FigureOptions, StoreFigures, store_figures
from opensearch_winnow.queries.asking.compared_pages import TwoPages, compare_pages
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.queries.searching.search_request import Cursor, SearchQuestion
from opensearch_winnow.queries.sets.pairs import Pairs
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions
from opensearch_winnow.stores.blocked_pages import blocked_entries, change_blocked, related_entry
from opensearch_winnow.stores.captures import captures, captures_of_urls
from opensearch_winnow.stores.chosen_captures import chosen_captures
from opensearch_winnow.stores.last_deletion import last_deletion
from opensearch_winnow.stores.lazy_store import LazyStore
from opensearch_winnow.stores.store import ClusterSize, Crawl, Order, Statistics, Store, Text

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class Index(Closing):
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
        shown_name: str | None = None,
    ) -> Index:
        """Open a store and return its index. `store` is a file, or an address such as `http://localhost:9200/pages`.

        A store that does not exist is created when pages are first added, with `scheme` (by default `Scheme()`); with
        `create=False`, that is an error. A store that exists keeps its scheme, and giving another one is an error.
        `key` is the secret key of the scheme, by default that in the file that the variable WINNOW_KEY_FILE names. With
        an address, `client` is an opensearch-py client to use; it stays open. Otherwise, requests are repeated for two
        seconds if need be: for two minutes if `patient`, as for a long run. Messages call a file `shown_name`, by
        default as it is given here.
        """
        return cls(
            LazyStore(
                os.fspath(store), scheme, create=create, key=key, client=client, patient=patient, shown_name=shown_name
            )
        )

    def __init__(self, lazy_store: LazyStore) -> None:
        self.name = lazy_store.shown_name  # in messages
        self._lazy_store = lazy_store
        self._destination = StoreDestination(lazy_store)

    @property
    def store(self) -> Store:
        """The store itself, for lower-level access to its records. It must exist."""
        return self._lazy_store.get()

    @property
    def scheme(self) -> Scheme:
        """The store's scheme, or the one it will be created with."""
        return self._lazy_store.scheme

    def close(self) -> None:
        """Close the store. Leaving a `with` block does this too."""
        self._lazy_store.close()

    # --- adding, deleting ---------------------------------------------------------------------------------------------

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
        return add_pages(self._destination, pages, crawl=crawl, failed=failed, on_findings=on_findings)

    @with_options(IndexingOptions)
    def index(
        self, sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], options: IndexingOptions
    ) -> Report:
        """Index all pages of `sources` and report what became of them, as the command `winnow index` does.

        A source is a web archive (WARC, ARC, WET, WACZ), a folder, JSON lines, CSV, Parquet, a pattern of names, or
        "-" for standard input. `id_field`, `text_field`, `html_field`, `title_field` and `url_field` name the
        fields of rows that have others than the usual ones.

        The options are those of the command, the help of which says more; `progress` is called with the report so far,
        several times a second, and the run stops when `stop` returns true.

        Pages are parsed in worker processes; a script needs no `if __name__ == "__main__":` for them.
        A run that is stopped, by `stop` or by Ctrl-C, keeps what is done; calling this again continues from there.
        """
        return index_sources(self._destination, sources, options)

    @takes(DeletionRequest)
    def delete(self, request: DeletionRequest) -> DeletionReport:
        """Delete all captures of `urls`, captures by their `ids`, or all captures that a search for `words` finds.

        `where` limits this to some captures; alone, it selects all captures that meet it. A URL that ends with `*`
        stands for all URLs that begin so. In a `dry_run`, nothing is deleted, and the report says what would be. With
        `block`, the `urls`, or the site of `where`, are never indexed again. Pages that have the same text at other
        addresses stay; `.copies` of the report names them.

        The report says what else has changed: pages whose cluster has lost its representative are clustered again, the
        templates of their sites are learned again, and watches forget them. With `erase`, the files of the store are
        then written anew without the bytes of deleted pages, which takes time: see docs/deleting.md. `progress` is
        called with the phase, the amount done and the total; if `stop` returns true, the rest is left.
        """
        return delete_pages(self.store, request)

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

    def last_deletion(self) -> str | None:
        """Return a mark that changes whenever pages are deleted, for those who keep answers; None before the first."""
        return last_deletion(self.store)

    def erase(self) -> None:
        """Write the files of the store anew, without what `delete` with `erase=False` has left in them."""
        self.store.erase()

    def verify(self) -> None:
        """Read all of a store that is a file, and raise a StoreError if any of it is damaged."""
        from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415

        store = self.store
        if not isinstance(store, EmbeddedStore):
            raise QuestionError(f"{self.name} is not a file: OpenSearch checks the files of its indices itself")
        store.verify()

    def rotate(self, *, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> RotationReport:
        """Store other fingerprints of each page, in a store of the selection koala, or continue a stopped rotation.

        Pages are found before, meanwhile and afterwards: a question looks up the fingerprints of every epoch. The texts
        must be stored. `progress` is called with the phase, the amount done and the total; if `stop` returns true, the
        rest is left for the next call.
        """
        return rotate(self.store, progress=progress or no_progress, stop=stop or (lambda: False))

    # --- reading ------------------------------------------------------------------------------------------------------

    def count(self, where: Filters = Filters()) -> int:
        """Return the number of captures that meet `where`."""
        return self.store.count(where)

    def crawls(self) -> list[Crawl]:
        """Return the crawls that have a name, in the order of their last captures."""
        return self.store.crawls()

    def page(self, url: str, at: datetime | None = None) -> Record:
        """Return the latest capture of a URL; with `at`, the latest one until then."""
        return self._pages.latest(url, at)

    def capture(self, id: str) -> Record:  # noqa: A002
        """Return the capture with this id, the `id` of a card."""
        return self._pages.capture(id)

    def find(self, name: str, at: datetime | None = None, *, with_text: bool = False) -> Record:
        """Return the page of a URL, as `page` does, or the capture with this id. A URL comes first.

        If it has no text that is stored, `with_text` makes that an error.
        """
        found = self._pages.named(name, at)
        return self._pages.with_text(found) if with_text else found

    def captures(self, url: str, *, limit: int | None = None) -> list[Card]:
        """Return the cards of the captures of a URL, newest first."""
        return captures(self.store, url, limit=limit)

    def latest(self, urls: Collection[str]) -> dict[str, Card]:
        """Return the card of the latest capture of each of `urls` that the store has."""
        latest: dict[str, Card] = {}
        for card in captures_of_urls(self.store, urls, latest=True):
            latest.setdefault(card.url, card)  # the newest comes first: documents of an attached index have no mark
        return latest

    def cards(
        self,
        where: Filters = Filters(),
        *,
        ids: Sequence[str] | None = None,
        order: Order = "written",
        limit: int | None = None,
    ) -> Iterator[Card]:
        """Yield the cards of all captures that meet `where`, or of those with these `ids`, in their order.

        `order` is by first write ("written"), by time ("newest", "oldest"), or by "url". An id that the store does not
        have is left out.
        """
        if ids is None:
            return self.store.scan(Card, where, order=order, limit=limit)
        return chosen_captures(self.store, Card, ids=ids)

    def entries(self, where: Filters = Filters(), *, ids: Sequence[str] | None = None) -> Iterator[CaptureEntry]:
        """Yield what an index of web archives has of captures: those that meet `where`, or those with these `ids`."""
        return chosen_captures(self.store, CaptureEntry, where, ids)

    def records(self, where: Filters = Filters(), *, ids: Sequence[str] | None = None) -> Iterator[Record]:
        """Yield the whole records of the captures that meet `where`, or of those with these `ids`."""
        return chosen_captures(self.store, Record, where, ids)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of captures by id, empty where none is stored. Unknown ids are left out."""
        return {id_: each.text for id_, each in self.store.read(ids, Text).items()}

    def prepare(self, page: Page) -> Record | Skipped | Failed:
        """Make the record of a page that is not in the store as it would be made for the store, which is not changed.

        A page without text is `Skipped`, one that cannot be read has `Failed`; both have a `.reason`.
        """
        return self._pages.prepare(page)

    def known_url(self, url: str) -> str | None:
        """Return another spelling of `url`, such as with "www.", of which the store has a page; None if it has none."""
        return known_spellings(self.store, [url]).get(url)

    def known_site(self, site: str) -> str | None:
        """Return `site` with or without "www.", whichever it is not, if the store has a page of it."""
        return known_site(self.store, site)

    def unknown_filters(self, where: Filters) -> list[str]:
        """Return a sentence for each site, crawl and cluster of `where` of which the store has no page."""
        return list(unknown_filters(self.store, where))

    def statistics(self) -> Statistics:
        """Return what the store holds, how often fingerprints repeat, and what the bytes are used for."""
        return self.store.statistics()

    # --- asking -------------------------------------------------------------------------------------------------------

    @takes(SimilarQuestion)
    def similar(self, question: SimilarQuestion) -> Matches:
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

        A question shorter than the scheme's guarantee is also searched for by its words. If it has fewer words than a
        shingle, a page with these words in a row contains all of it. `.below_guarantee` tells that a page may be
        missed, as where texts are not stored. A question shorter than the noise threshold is `.too_short` to be
        checked for copies, since pages have its words by chance: it matches only pages that are as short, and resemble
        it by half or as `min_resemblance` says. `search` finds the pages that have its words.
        """
        record, exclusions = self._pages.in_question(question), self._exclusions(question.boilerplate)
        return SimilarPages(self.store, record, question, exclusions, is_stored=question.is_stored).find()

    @with_options(SimilarOptions)
    def similar_batch(
        self, questions: Iterable[AnyQuestion], options: SimilarOptions
    ) -> Iterator[tuple[AnyQuestion, Matches | QuestionError]]:
        """Answer many questions: yield each with the matches that `similar` returns for it, in order.

        A question is a text, a `Page`, or a mapping with one of `text`, `html`, `url` (of a page of the store) and `id`
        (of a capture of the store); a mapping may have other keys. One that cannot be answered, because it is empty or
        its URL is unknown, is yielded with a `QuestionError` that says why, and the others are answered.

        The options are those of `similar`, for every question; `max_seconds` counts for each. Questions are read a few
        at a time and looked up together, which is faster than asking one by one.
        """
        return SimilarBatch(self.store, lambda: self._exclusions(options.boilerplate), options).answers(questions)

    @takes(SearchQuestion)
    def search(self, question: SearchQuestion) -> SearchResults:
        """Return the pages that have the words, the best first; of equals the newest, then the shortest URL.

        `words` is a query such as `apple "fruit tree" -pear mil* mill OR flour`. A page must have all words; with
        `any_word`, one is enough. `limit` is the number of hits on a page of results, and `page` its number, from 1.
        `where` filters the pages, and `facets` names fields whose values are counted. Only the latest capture of each
        URL is searched, unless `all_captures` is set, or `where` limits the crawl or the end of the period.

        With `group`, near-duplicate hits are one result: a hit that resembles the representative of an earlier group by
        at least `min_resemblance` joins the first such group, as one of its `.members`; any other starts a new group.

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
        if question.cursor is not None:
            if question.words:
                raise QuestionError("a cursor contains its words: give words or a cursor, not both")
            return self._searches.following(Cursor.of(question.cursor))
        return self._searches.results(question.request, question.page - 1, keep_open=question.stable)

    @takes(TwoPages)
    def compare(self, pages: TwoPages) -> Comparison:
        """Compare two pages exactly, and return their scores and passages.

        `a` and `b` are URLs, which stand for their latest captures, ids of captures, or records that `page` or
        `capture` returned. With `boilerplate=False`, registered boilerplate counts like any text. With `differences`,
        `.removed` and `.added` are the runs of words that only one of the pages has.
        """
        one, other = (self._pages.with_text(each) for each in (pages.a, pages.b))
        boilerplate = self._boilerplate.read() if pages.boilerplate else ()
        return compare_pages(one, other, self.scheme, boilerplate=boilerplate, differences=pages.differences)

    @takes(PairsQuestion)
    def pairs(self, question: PairsQuestion) -> Pairs:
        """Compare the documents of `sources` with each other and with the pages of the store, and return similar pairs.

        Without `sources`, all pages of the store are compared with each other: the latest capture of each URL. With
        `boilerplate=False`, registered boilerplate counts like any text. All else is as in the function `pairs`.
        """
        return find(question, self.store)

    # --- pages over time ----------------------------------------------------------------------------------------------

    @takes(HistoryQuestion)
    def history(self, question: HistoryQuestion) -> History:
        """Return the latest `limit` captures of a URL in order of time; those of unknown time come first.

        `.resemblance` compares each with the capture before it, exactly. It is None for the first capture, and where a
        text is not stored. With `changed`, captures with the text of the one before are left out. With
        `boilerplate=False`, registered boilerplate counts like any text.
        """
        exclusions = self._exclusions(question.boilerplate)
        found = history(self.store, question.url, limit=question.limit, changed=question.changed, exclusions=exclusions)
        if not found:
            raise self._pages.not_found(question.url)
        return found

    @takes(LostPage)
    def locate(self, lost: LostPage) -> Located:
        """Return where a page went: the later pages that have its text or a part of it, the best first.

        The text sought is that of the latest capture of `url` (with `at`, the latest until then), or of the capture
        `id`. A page is later if it was captured later, in a crawl of another name. It is found if it resembles the lost
        page by a half, contains half of it ("merged"), or is for the most part a part of it ("split"). Pages that
        resemble it come first, then those that contain the most of it. Of the captures of a URL, the best one counts.

        `limit` is the number of pages to return, None for all; `.total` counts all, and `.reason` says why there are
        none. With `boilerplate=False`, registered boilerplate counts like any text. After `max_seconds`, the answer is
        what was found so far.
        """
        page = self._pages.find(url=lost.url, id_=lost.id, at=lost.at)
        exclusions = self._exclusions(lost.boilerplate)
        return locate(self.store, page, exclusions=exclusions, limit=lost.limit, max_seconds=lost.max_seconds)

    @takes(VersionsQuestion)
    def versions(self, question: VersionsQuestion) -> Versions:
        """Return the versions of a page or text, the oldest first: all captures that resemble it, by equal texts.

        The page is `url` by its latest capture (with `at`, the latest until then) or the capture `id`; `text` and
        `html` need not be in the store. A capture belongs to a version if it resembles the question, or another
        version of the page found in this way, by at least `min_resemblance`.

        A version is `.stale` if a page that had it has another text in its newest capture; the `.stale_pages` have it
        still. `limit` is the number of versions to return, the latest, and of pages listed for each; None for all. With
        `boilerplate=False`, registered boilerplate counts like any text. After `max_seconds`, the answer
        is what was found so far.
        """
        page = self._pages.find(
            url=question.url, id_=question.id, text=question.text, html=question.html, at=question.at
        )
        return versions(
            self.store,
            page,
            is_stored=question.url is not None or question.id is not None,
            min_resemblance=question.min_resemblance,
            limit=question.limit,
            exclusions=self._exclusions(question.boilerplate),
            max_seconds=question.max_seconds,
        )

    @takes(ChangesQuestion)
    def changes(self, question: ChangesQuestion) -> Changes:
        """Compare two crawls, and return what became of each page: `.counts` by kind, and a list of `.pages`.

        `before` and `after` are names of crawls, or two dates or times: the pages as they were captured until `before`,
        and those captured after it, until `after`. Without them, the two latest crawls that have URLs in common are
        compared. Of several captures of a URL in a crawl, the latest counts. `.common` is the number of URLs that both
        have: if it is 0, they may be crawls of other sites. The kinds are:

        - unchanged: the URL has the same text, apart from spacing, case and punctuation.
        - changed: the URL has another text. `.template` is true if only the template of the site is another: lines that
          at least half of its changed pages lost or gained, if there are five of these or more.
        - moved: the URL is gone, or has less than `min_containment` of the text left; a page at another URL resembles
          it by at least that. `.to_url` is the one that resembles it most, on any site.
        - split: so did several pages with new URLs, which together have at least `min_containment` of its text;
          `.parts` are their URLs.
        - merged: no page resembles it by that much, but `.to_url` contains at least `min_containment` of its text; or
          it moved to the same page as others, each of which is another part of that page, and none nearly all of it.
        - new: the later crawl has the URL, the earlier does not, and no page moved there.
        - not_seen: the later crawl has neither the URL nor the text. This does not prove that the page was deleted.

        - `site`: compare only pages of this site. Where their texts went is looked up on all sites.
        - `change`, `limit`: list pages of these kinds, up to the limit of each kind. `.counts` has all.
        - `near_revisits`: list only pages whose later capture need not be kept: the text is unchanged, or only its
          template changed, or it resembles the earlier capture by at least `min_resemblance`.
        - `passages`: find the runs of text that were `.removed` from each page, and those that were `.added`.
        - `boilerplate`: leave out registered boilerplate. With False, it counts like any text.
        - `progress`: called with the phase, the amount done and the total.
        """
        for sentence in unknown_filters(self.store, Filters(site=question.site and question.site.lower())):
            raise QuestionError(sentence)
        return changes(self.store, question, self._exclusions(question.boilerplate))

    def default_crawls(self) -> tuple[str, str]:
        """Return the names of the two crawls that `changes` compares by default; raise if there are none."""
        before, after = crawl_states(self.store)
        return before.name, after.name

    def comparable_crawls(self) -> tuple[str, str] | None:
        """Return the names of the two latest crawls that have URLs in common; None if no two have."""
        return comparable_crawls(self.store, [crawl.name for crawl in self.crawls()])

    @with_options(ExtractOptions)
    def extract(self, to: str | os.PathLike[str], options: ExtractOptions) -> ExtractReport:
        """Write captures to a WARC or WACZ file, from the web archives that they were indexed from.

        Choose captures by `where`, `latest` and `cluster`, or by their `ids`. `to` ends in .warc.gz, .warc or .wacz;
        with `overwrite`, it is replaced if it exists. With `revisits`, a capture with the payload of another one
        becomes a revisit record. With `representatives`, only one capture of each cluster is written; others become
        revisits if their payloads are equal, and are otherwise left out, and listed in a file. `archives` are folders
        to look in, with their subfolders, for archives that are no longer where they were. `progress` is called with
        the phase, the amount done and the total.
        """
        return extract(self.store, to, options)

    @with_options(ExportOptions)
    def export(self, to: str | os.PathLike[str], options: ExportOptions) -> ExportReport:
        """Write captures to one file: whole records, a table with some `columns`, or an index of their archives.

        Choose captures by `where`, `latest` and `cluster`, or by their `ids`; with `representatives`, only those of
        clusters are written. The name of the file, or `format`, says what to write: "parquet", "jsonl", "csv" or
        "cdxj"; "-" is standard output. With `overwrite`, a file that exists is replaced.
        """
        return export(StoredRecords(self.store, options, representatives=options.representatives), to, options)

    # --- clusters -----------------------------------------------------------------------------------------------------

    @takes(ClusterRun)
    def cluster(self, run: ClusterRun) -> ClusteringResult:
        """Find the clusters of near-duplicate pages in the whole store, and write the changed clusters to it.

        In order of time, each page joins the first representative that it resembles by at least `threshold`, or becomes
        one itself; with `linkage="components"`, chains of such pages are one cluster. With `fast`, only pages that
        share a band are compared; `compared` limits the comparisons of a page by one band or shingle. With
        `write_back=False`, the store is left unchanged.

        `representative` is the page that each cluster is named after, whichever page the others have joined: its
        "earliest" or "newest" capture, the "longest" page, the one that most pages of the cluster name as "canonical",
        or the earliest on a preferred site ("site:a.org,b.org").

        `engine` is "duckdb" or "spark"; `output` and `evidence` name Parquet tables to write, `overwrite` replaces
        existing ones; `state` is a folder that makes the next run compare only new pages; `memory` ("2GB"), `threads`
        and `work` (a folder for temporary files) limit DuckDB; `spark` has settings of Spark; `progress` is called with
        the phase, the amount done and the total.
        """
        options, settings = run.part(ClusteringOptions), run.part(RunSettings)
        return cluster_store(self.store, options, settings, write_back=run.write_back)

    def clustering(self) -> LastClustering | None:
        """Return the result of the last clustering that was written to the store; None if there was none.

        It includes the `threshold`, `linkage`, `fast` and `representative` of that run, and its time `at`. Pages added
        or deleted later do not change it.
        """
        return last_clustering(self.store)

    def clusters(
        self, *, min_pages: int = 2, site: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[ClusterSize]:
        """Return the clusters of at least `min_pages` pages, largest first, then by id: `limit` of them from `offset`.

        Each capture counts as a page. With `site`, only clusters that have a page on it are returned.
        """
        return self.store.clusters(min_pages=min_pages, site=site, limit=limit, offset=offset)

    def cluster_pages(self, cluster: str, *, limit: int = 100, offset: int = 0) -> list[Card]:
        """Return the pages of a cluster, oldest first (unknown last), then by URL: `limit` of them from `offset`."""
        selection = Selection(clusters=(cluster,))
        return list(self.store.scan(Card, selection, order="oldest", limit=limit, offset=offset))

    # --- summing up, explaining ---------------------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Sum up the store: how much in it is copied, its largest clusters, and examples to start from.

        It takes about a second for 20,000 pages.
        """
        is_clustered = self.clustering() is not None
        return StoreOverview(self.store, self._searches, self._boilerplate).overview(is_clustered=is_clustered)

    @takes(FigureOptions)
    def figures(self, options: FigureOptions) -> StoreFigures:
        """Count everything: what `statistics` counts, pages by crawl, site and month, and a power law of fingerprints.

        With `common_texts`, it also finds the texts that most pages share, in a sample of 1,000 pages. With `verify`,
        it first reads all of a store file, as `verify` does.
        """
        if options.verify:
            self.verify()
        return store_figures(self.store, self.name, with_common_texts=options.common_texts)

    def sources(self, text: str, matches: Sequence[Match]) -> TextSources:
        """Attribute every part of `text` to the one of its `matches` that has most of the text, and count what is left.

        Matches that are versions of each other, or resemble each other and have the same parts, are one source.
        """
        alike = sketched_pages(self.store, (match.card for match in matches)).are_alike
        return sources(text, matches, alike)

    @takes(ClusterListOptions)
    def cluster_list(self, options: ClusterListOptions) -> ClusterList:
        """List the clusters of at least `min_urls` URLs, with the resemblance of the two pages that are least alike.

        `order` is by "size", "spread" (the number of sites), "site" or "lowest" (the least alike first). With `site`,
        only clusters with a page on it are listed. Without `compare`, no pages are compared, which is faster.
        """
        return cluster_list(self.store, options)

    @with_options(ClusterDetailsOptions)
    def cluster_details(self, captures: Sequence[Card], options: ClusterDetailsOptions) -> ClusterDetails:
        """Compare the pages of a cluster: how alike they are, which hold it together, and the text they share.

        `captures` are those that `cluster_pages` returns. `threshold` is by default that of the last clustering.
        `limit` pages from `offset` are compared with the representative.
        """
        return cluster_details(self.store, captures, self.clustering(), options)

    def why_no_hit(self, question: SearchQuestion) -> NoHit:
        """Find out why a search found no page, and which words or filters to leave out."""
        return why_no_hit(self.store, self._searches, question)

    def why_no_match(self, matches: Matches, question: SimilarQuestion) -> NoMatch:
        """Find out why `similar` gave no `matches` for a question, and which of its options to change."""
        exclusions = self._exclusions(question.boilerplate)
        return UnmatchedQuestion(self.store, self._pages, self._searches, question, exclusions).why(matches)

    def search_for_words(self, text: str, *, where: Filters = Filters()) -> WordSearch:
        """Search for the words of a text in a row; if no page has them so, for all of them."""
        return search_for_words(self._searches, text, where)

    # --- boilerplate --------------------------------------------------------------------------------------------------

    def boilerplate(self) -> list[Boilerplate]:
        """Return the boilerplate that was added or learned, by name."""
        return self._boilerplate.read()

    def add_boilerplate(self, name: str, text: str, site: str | None = None, *, url: str | None = None) -> Boilerplate:
        """Register a text, such as a licence or a template, as boilerplate: it no longer counts as evidence of copying.

        With a `site`, it is boilerplate only between pages of that site. It replaces boilerplate of the same name. If
        the text is that of a page in the store, give its `url`: it is then deleted with the page.
        """
        added = Boilerplate(name, text, site, url=url)
        self._boilerplate.add(added)
        if url is not None and not captures(self.store, url, limit=1):  # it was deleted just now, with what was there
            self._boilerplate.remove(name)
            raise self._pages.not_found(url)
        return added

    def remove_boilerplate(self, name: str) -> None:
        """Remove the boilerplate of this name: its text counts again."""
        self._boilerplate.remove(name)

    @takes(LearningOptions)
    def learn_boilerplate(self, options: LearningOptions) -> list[Boilerplate]:
        """Learn the template of a `site`, or of every site, register it, and return what was learned.

        A template is the text on at least `min_share` of the site's pages. A site needs at least `min_pages` pages, not
        counting near-duplicates. What was learned of these sites before is replaced. Pages without a site, such as
        files, are left out; `site=""` learns a template from them.
        """
        return self._boilerplate.learn(options)

    # --- watches ------------------------------------------------------------------------------------------------------

    def watches(self) -> WatchList:
        """Return the watches of the store, by name. A watch is a saved question."""
        return self._watches.read()

    def watch_names(self) -> list[str]:
        """Return the names of the watches, sorted."""
        return self._watches.names()

    def watch(self, name: str) -> Watch:
        """Return the watch of this name."""
        return self._watches.get(name)

    @takes(NewWatch)
    def add_watch(self, new: NewWatch) -> Watch:
        """Save a question as a watch: which pages contain at least `min_containment` of the page `url`, or of a `text`?

        `url` stands for its latest capture at the time of each check. Pages that match now are not reported as new
        later, unless `seen` is False. With `replace`, the watch may replace another of the same name.
        """
        watch = Watch(name=new.name, url=new.url, text=new.text, min_containment=new.min_containment)
        self._watches.add(watch, seen=new.seen, replace=new.replace)
        return watch

    @with_options(AddingOptions)
    def add_watches(self, watches: Iterable[Watch], options: AddingOptions) -> int:
        """Save many watches, all or none, and return how many. The options are those of `add_watch`.

        With `seen=False`, nothing is looked up, and thousands of watches are added in seconds.
        """
        return self._watches.add_all(watches, seen=options.seen, replace=options.replace)

    def remove_watch(self, name: str) -> None:
        """Delete a watch."""
        self._watches.remove(name)

    def check_watch(self, name: str) -> WatchReport:
        """Ask the question of a watch again. The answer has the best 1,000 matches; `.new` are the ids of the new ones.

        They stay new until you call `mark_seen`.
        """
        return self._watches.check(name)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """Mark captures as seen: they and later captures of their URLs are no longer new. The last 10,000 are kept."""
        self._watches.mark_seen(name, ids)

    @takes(LogQuestion)
    def watch_log(self, question: LogQuestion) -> Findings:
        """Return the pages that matched the watch `name`, or any, when they were indexed: the newest findings first.

        `since` is the time of a finding, and `limit` the number of them, None for all. The store keeps 10,000. The log
        does not mark anything as seen: `check_watch` lists the same pages as new.
        """
        return WatchLog(self.store).answer(question)

    # --- parts --------------------------------------------------------------------------------------------------------

    @cached_property
    def _pages(self) -> PageFinder:
        return PageFinder(self.store)

    @cached_property
    def _boilerplate(self) -> RegisteredBoilerplate:
        return RegisteredBoilerplate(self.store)

    def _exclusions(self, boilerplate: bool) -> Exclusions:
        return self._boilerplate.exclusions() if boilerplate else NO_EXCLUSIONS

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.store, self._boilerplate.exclusions)

    @cached_property
    def _watches(self) -> Watches:
        return Watches(self.store, self.similar)
