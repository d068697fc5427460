"""An overview of a store: how much in it is copied, its largest clusters, and examples to start from."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nlargest
from itertools import groupby
from typing import NamedTuple, TypedDict

from opensearch_winnow.answers.clusters_document import CardDocument, card_document
from opensearch_winnow.answers.common_texts import CommonTextDocument, common_texts, phrase_query
from opensearch_winnow.answers.page_counts import PageCounts, page_counts
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record

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


class OverviewCluster(CardDocument):
    """A cluster by its representative: on how many different URLs and sites it is."""

    urls: int
    sites: int


class OverviewCrawl(TypedDict):
    name: str
    captures: int
    first: str | None
    last: str | None


class ExampleQuery(TypedDict):
    query: str
    pages: int
    groups: int | None


class ExampleComparison(TypedDict):
    """Two near-duplicates. `passages` has (start, end) in A and in B for each shared passage."""

    a: CardDocument
    b: CardDocument
    resemblance: float
    containment: float
    contained: float
    characters: tuple[int, int]
    passages: list[tuple[int, int, int, int]]


class OverviewDocument(TypedDict):
    """What is in a store. `pages` are different URLs; `copies` of them have a near-duplicate at another URL, and are in
    `clusters` clusters: both are null if the store was never clustered."""

    pages: int
    captures: int
    sites: int
    first: str | None
    last: str | None
    copies: int | None
    clusters: int | None
    largest: list[OverviewCluster]
    crawls: list[OverviewCrawl]
    passage: CommonTextDocument | None
    comparison: ExampleComparison | None
    queries: list[ExampleQuery]


class ClusterOfUrls(NamedTuple):
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
    """What is noted of the cards of a store beside what `page_counts` counts."""

    urls: set[int] = field(default_factory=set)  # hashes, to save memory
    crawls: dict[str, _Crawl] = field(default_factory=dict)
    clusters: dict[str, int | set[int]] = field(default_factory=dict)  # hashes of URLs, by cluster

    def of(self, cards: Iterable[Card]) -> Iterator[Card]:
        """Note each card, and pass it on."""
        for card in cards:
            url = hash(card.url)
            self.urls.add(url)
            self.crawls.setdefault(card.crawl, _Crawl()).add(card.fetched_at)
            if card.cluster:
                known = self.clusters.setdefault(card.cluster, url)
                if isinstance(known, set):
                    known.add(url)
                elif known != url:
                    self.clusters[card.cluster] = {known, url}
            yield card


def overview(index: Index) -> OverviewDocument:
    """Count what the first screen shows. It takes about a second for 20,000 pages."""
    noted = _Noted()
    counts = page_counts(noted.of(index.store.scan(Card)))
    clustered = index.clustering() is not None
    clusters = [ClusterOfUrls(id_, len(urls)) for id_, urls in noted.clusters.items() if isinstance(urls, set)]
    largest = nlargest(MAX_CLUSTERS_TRIED, clusters, key=lambda each: (each.urls, each.id))
    lines = list(_largest(index, largest))
    return {
        "pages": len(noted.urls),
        "captures": counts.crawls.total(),
        "sites": sum(map(bool, counts.sites)),  # pages of files have none
        "first": counts.first,
        "last": counts.last,
        "copies": sum(each.urls for each in clusters) if clustered else None,
        "clusters": len(clusters) if clustered else None,
        "largest": lines[:MAX_CLUSTERS],
        "crawls": _recent(noted.crawls),
        "passage": _most_copied(index, common_texts(index, counts.sample), counts),
        "comparison": min(_comparisons(index, lines), key=_distance_from_best, default=None),
        "queries": list(_queries(index, lines)),
    }


def _day(time: datetime | None) -> str | None:
    return None if time is None else f"{time:%Y-%m-%d}"


def _recent(crawls: dict[str, _Crawl]) -> list[OverviewCrawl]:
    def age(name: str) -> tuple[bool, float, int]:
        last = crawls[name].last
        return last is not None, last.timestamp() if last else 0.0, crawls[name].captures

    return [
        {
            "name": name,
            "captures": crawls[name].captures,
            "first": _day(crawls[name].first),
            "last": _day(crawls[name].last),
        }
        for name in nlargest(MAX_CRAWLS, crawls, key=age)
    ]


def _largest(index: Index, clusters: Sequence[ClusterOfUrls]) -> Iterator[OverviewCluster]:
    cards = index.store.read([each.id for each in clusters], Card)
    for number, each in enumerate(clusters):
        if (card := cards.get(each.id)) is not None:
            members = index.cluster_members(each.id, limit=1_000) if number < MAX_CLUSTERS else [card]
            yield {**card_document(card), "urls": each.urls, "sites": len({member.site for member in members})}


def _most_copied(index: Index, texts: Sequence[CommonTextDocument], counts: PageCounts) -> CommonTextDocument | None:
    """Return the text with the most copied characters, other than the template of a site."""
    cards = index.store.read([each["id"] for each in texts], Card)

    def is_template(text: CommonTextDocument) -> bool:
        card = cards.get(text["id"])
        return card is None or text["pages"] >= TEMPLATE_SHARE * counts.sites[card.site]

    copied = [each for each in texts if not is_template(each)]
    best = max(copied, key=lambda each: each["pages"] * min(each["characters"], MAX_PASSAGE_CHARS), default=None)
    if best is not None:  # as many as the search for it finds, which may be more than have the same fingerprint
        best["pages"] = index.search(phrase_query(best["phrase"]), all_captures=True, limit=1).total
    return best


def _comparisons(index: Index, clusters: Sequence[OverviewCluster]) -> Iterator[ExampleComparison]:
    """Yield pairs of near-duplicates that are worth looking at, from the largest clusters."""
    for cluster in clusters[:MAX_CLUSTERS]:
        members = index.cluster_members(cluster["id"], limit=10 * MAX_MEMBERS_TRIED)
        cards = {each.id: each for each in members if each.url != cluster["url"] or each.id == cluster["id"]}
        records = index.store.read([cluster["id"], *list(cards)[-MAX_MEMBERS_TRIED:]], Record)
        page = records.pop(cluster["id"], None)
        for other in records.values():
            if page is None or page.id not in cards or not (page.text and other.text):
                continue
            compared = index.compare(page, other)
            if compared.passages and compared.resemblance < 1:
                yield {
                    "a": card_document(cards[page.id]),
                    "b": card_document(cards[other.id]),
                    "resemblance": compared.resemblance,
                    "containment": compared.containment,
                    "contained": compared.contained,
                    "characters": (len(page.text), len(other.text)),
                    "passages": [
                        (each.start, each.end, each.other_start, each.other_end) for each in compared.passages
                    ],
                }


def _distance_from_best(comparison: ExampleComparison) -> tuple[bool, float]:
    return len(comparison["passages"]) < MIN_PASSAGES, abs(comparison["resemblance"] - BEST_RESEMBLANCE)


def _queries(index: Index, clusters: Sequence[OverviewCluster]) -> Iterator[ExampleQuery]:
    """Yield searches that find near-duplicates: the beginnings of titles in the largest clusters."""
    chosen: list[set[str]] = []
    for cluster in clusters:
        words = [word.strip(string.punctuation).lower() for word in TITLE_ENDS.split(cluster["title"] or "")[0].split()]
        runs = [list(run) for is_word, run in groupby(words, str.isalpha) if is_word]
        some = max(runs, key=len, default=[])[:MAX_QUERY_WORDS]
        if len(some) < 2 or any(len(other & {*some}) > 1 for other in chosen):
            continue
        found = index.search(" ".join(some), group=True, examine=HITS_EXAMINED, limit=1)
        if found.groups is None or found.groups < found.total:
            chosen.append({*some})
            yield {"query": " ".join(some), "pages": found.total, "groups": found.groups}
        if len(chosen) == MAX_QUERIES:
            return
