"""Sums up a store: its copied pages, its largest clusters, and examples to start from."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest
from itertools import groupby
from typing import NamedTuple

from opensearch_winnow.foundation.answers import Answer, answer, inlined, key
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.searching.searches import Searches
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.operations.upkeep.common_texts import CommonText, common_texts, phrase_query
from opensearch_winnow.operations.upkeep.store_figures import PageCounts, page_counts
from opensearch_winnow.queries.asking.compared_pages import compare_pages
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.searching.search_request import SearchRequest
from opensearch_winnow.stores.store import Crawl, Store

MAX_CLUSTERS = 5
MAX_CRAWLS = 5
MAX_QUERIES = 3
MAX_CLUSTERS_TRIED = 40  # for searches to try
MAX_MEMBERS_TRIED = 4  # of a cluster, for the comparison
MAX_QUERY_WORDS = 4
HITS_EXAMINED = 1_000  # as the screen of search results does
MAX_PASSAGE_CHARS = 400  # of a passage that count when the most copied one is chosen
TEMPLATE_SHARE = 0.8  # a text on this share of a site's pages is its template
MIN_PASSAGES = 3  # of an example, if there is one
BEST_RESEMBLANCE = 0.8  # of two pages that are clearly alike and clearly differ
TITLE_ENDS = re.compile(r"\s[|–—·:»-]\s|\s\(|,\s")  # before the name of the site, or a remark


@answer
class LargeCluster(Answer):
    """A cluster by its representative."""

    representative: Card = inlined()
    urls: int = key("The number of its different URLs.")
    sites: int = key("The number of its sites.")


@answer
class ExampleSearch(Answer):
    """A search that finds near-duplicates."""

    query: str = key("The words.")
    pages: int = key("The number of pages that have them.")
    groups: int | None = key("The number of groups of these; null if it is not known exactly.")


@answer
class ExamplePair(Answer):
    """Two near-duplicates, and how they compare."""

    a: Card = key("The first page.")
    b: Card = key("The second page.")
    resemblance: float = key("The shared text, as a share of the text of both.")
    containment: float = key("The share of A that is in B.")
    contained: float = key("The share of B that is in A.")
    characters: tuple[int, int] = key("The lengths of their texts.")
    passages: Sequence[Passage] = key("The passages that they share.")


@answer
class Overview(Answer):
    """The contents of a store. Pages are different URLs."""

    pages: int = key("The number of different URLs.")
    without_text: int = key("The number of these that have no text.")
    captures: int = key("The number of captures.")
    sites: int = key("The number of sites.")
    first: str | None = key("The day of the first capture; null if no time is known.")
    last: str | None = key("The day of the last capture; null if no time is known.")
    copies: int | None = key(
        "The number of pages with a near-duplicate at another URL; null if the store was never clustered."
    )
    clusters: int | None = key("The number of clusters of these pages; null if the store was never clustered.")
    largest: Sequence[LargeCluster] = key("The largest clusters.")
    crawls: Sequence[Crawl] = key("The latest crawls.")
    passage: CommonText | None = key("The most copied passage.")
    comparison: ExamplePair | None = key("Two near-duplicates, compared.")
    queries: Sequence[ExampleSearch] = key("Searches to try.")


class _ClusterOfUrls(NamedTuple):
    id: str
    urls: int


@dataclass(slots=True)
class _Crawl:
    captures: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, time: datetime | None) -> None:
        self.captures += 1
        if time is not None:
            self.first = min(self.first or time, time)
            self.last = max(self.last or time, time)


@dataclass(slots=True)
class _Noted:
    """Figures of the cards of a store that `page_counts` does not have."""

    urls: dict[int, bool] = field(default_factory=dict)  # by hash, to save memory; True if a capture has a text
    crawls: dict[str, _Crawl] = field(default_factory=dict)
    clusters: dict[str, int | set[int]] = field(default_factory=dict)  # hashes of URLs, by cluster

    def passing_on(self, cards: Iterable[Card]) -> Iterator[Card]:
        """Note each card, and pass it on."""
        for card in cards:
            url = hash(card.url)
            # A new document of an attached index has neither a digest of its text nor a cluster yet.
            self.urls[url] = bool(card.text_digest) or not card.cluster or self.urls.get(url, False)
            self.crawls.setdefault(card.crawl, _Crawl()).add(card.fetched_at)
            if card.cluster:
                known = self.clusters.setdefault(card.cluster, url)
                if isinstance(known, set):
                    known.add(url)
                elif known != url:
                    self.clusters[card.cluster] = {known, url}
            yield card


class StoreOverview:
    """Sums up a store for its first screen.

    >>> StoreOverview(store, searches, boilerplate).overview(is_clustered=True)
    """

    def __init__(self, store: Store, searches: Searches, boilerplate: RegisteredBoilerplate) -> None:
        self._store = store
        self._searches = searches
        self._boilerplate = boilerplate

    def overview(self, *, is_clustered: bool) -> Overview:
        """Return the figures and examples of the first screen. It takes about a second for 20,000 pages."""
        noted = _Noted()
        counts = page_counts(noted.passing_on(self._store.scan(Card)))
        clusters = [_ClusterOfUrls(id_, len(urls)) for id_, urls in noted.clusters.items() if isinstance(urls, set)]
        largest = list(self._largest(nlargest(MAX_CLUSTERS_TRIED, clusters, key=lambda each: (each.urls, each.id))))
        return Overview(
            pages=len(noted.urls),
            without_text=len(noted.urls) - sum(noted.urls.values()),
            captures=counts.crawls.total(),
            sites=sum(map(bool, counts.sites)),  # pages of files have none
            first=counts.first,
            last=counts.last,
            copies=sum(each.urls for each in clusters) if is_clustered else None,
            clusters=len(clusters) if is_clustered else None,
            largest=largest[:MAX_CLUSTERS],
            crawls=_recent(noted.crawls),
            passage=self._most_copied(common_texts(self._store, counts.sample), counts),
            comparison=min(self._pairs(largest[:MAX_CLUSTERS]), key=_distance_from_best, default=None),
            queries=list(self._examples(largest)),
        )

    def _captures(self, cluster: str, limit: int) -> list[Card]:
        return list(self._store.scan(Card, Selection(clusters=(cluster,)), order="oldest", limit=limit))

    def _largest(self, clusters: Sequence[_ClusterOfUrls]) -> Iterator[LargeCluster]:
        cards = self._store.read([each.id for each in clusters], Card)
        for number, each in enumerate(clusters):
            if (card := cards.get(each.id)) is not None:
                pages = self._captures(each.id, 1_000) if number < MAX_CLUSTERS else [card]
                yield LargeCluster(card, each.urls, len({page.site for page in pages}))

    def _most_copied(self, texts: Sequence[CommonText], counts: PageCounts) -> CommonText | None:
        """Return the text with the most copied characters, other than the template of a site."""
        cards = self._store.read([each.id for each in texts], Card)

        def is_template(text: CommonText) -> bool:
            card = cards.get(text.id)
            return card is None or text.pages >= TEMPLATE_SHARE * counts.sites[card.site]

        copied = [each for each in texts if not is_template(each)]
        best = max(copied, key=lambda each: each.pages * min(each.characters, MAX_PASSAGE_CHARS), default=None)
        if best is None:
            return None
        # The number that the search for it finds: more pages may have the phrase than the fingerprint.
        return replace(best, pages=self._searches.total(phrase_query(best.phrase)))

    def _pairs(self, clusters: Sequence[LargeCluster]) -> Iterator[ExamplePair]:
        """Yield pairs of near-duplicates that are worth looking at."""
        for cluster in clusters:
            first = cluster.representative
            captures = self._captures(first.id, 10 * MAX_MEMBERS_TRIED)
            cards = {each.id: each for each in captures if each.url != first.url or each.id == first.id}
            records = self._store.read([first.id, *list(cards)[-MAX_MEMBERS_TRIED:]], Record)
            page = records.pop(first.id, None)
            for other in records.values():
                if page is None or page.id not in cards or not (page.text and other.text):
                    continue
                compared = compare_pages(page, other, self._store.scheme, boilerplate=self._boilerplate.read())
                if compared.passages and compared.resemblance < 1:
                    yield ExamplePair(
                        cards[page.id],
                        cards[other.id],
                        compared.resemblance,
                        compared.containment,
                        compared.contained,
                        (len(page.text), len(other.text)),
                        compared.passages,
                    )

    def _examples(self, clusters: Sequence[LargeCluster]) -> Iterator[ExampleSearch]:
        """Yield searches that find near-duplicates: the beginnings of titles in the largest clusters."""
        chosen: list[set[str]] = []
        for cluster in clusters:
            title = TITLE_ENDS.split(cluster.representative.title or "")[0]
            words = [word.strip(string.punctuation).lower() for word in title.split()]
            runs = [list(run) for is_word, run in groupby(words, str.isalpha) if is_word]
            some = max(runs, key=len, default=[])[:MAX_QUERY_WORDS]
            if len(some) < 2 or any(len(other & {*some}) > 1 for other in chosen):
                continue
            query, latest = " ".join(some), Filters(latest=True)
            request = SearchRequest(words=query, where=latest, group=True, examine=HITS_EXAMINED, limit=1)
            found = self._searches.results(request, 0)
            if found.groups is None or found.groups < found.total:
                chosen.append({*some})
                yield ExampleSearch(query, found.total, found.groups)
            if len(chosen) == MAX_QUERIES:
                return


def _recent(crawls: dict[str, _Crawl]) -> list[Crawl]:
    def age(name: str) -> tuple[bool, float, int]:
        last = crawls[name].last
        return last is not None, last.timestamp() if last else 0.0, crawls[name].captures

    latest = nlargest(MAX_CRAWLS, crawls, key=age)
    return [Crawl(name, crawls[name].captures, crawls[name].first, crawls[name].last) for name in latest]


def _distance_from_best(pair: ExamplePair) -> tuple[bool, float]:
    return len(pair.passages) < MIN_PASSAGES, abs(pair.resemblance - BEST_RESEMBLANCE)
