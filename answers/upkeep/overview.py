"""An overview of a store as JSON values."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from opensearch_winnow.answers.clusters.clusters_document import CardDocument, card_document
from opensearch_winnow.answers.upkeep.statistics_document import CommonTextDocument, common_text_document
from opensearch_winnow.operations.upkeep.overview import CrawlPeriod, ExamplePair, Overview


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
    """The contents of a store. `pages` are different URLs, `without_text` of them have no text; `copies` have a
    near-duplicate at another URL, and are in `clusters` clusters: both are null if the store was never clustered."""

    pages: int
    without_text: int
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


def overview_document(overview: Overview) -> OverviewDocument:
    return {
        "pages": overview.pages,
        "without_text": overview.without_text,
        "captures": overview.captures,
        "sites": overview.sites,
        "first": overview.first,
        "last": overview.last,
        "copies": overview.copies,
        "clusters": overview.clusters,
        "largest": [
            {**card_document(each.representative), "urls": each.urls, "sites": each.sites} for each in overview.largest
        ],
        "crawls": list(map(_crawl, overview.crawls)),
        "passage": overview.passage and common_text_document(overview.passage),
        "comparison": overview.pair and _comparison(overview.pair),
        "queries": [{"query": each.query, "pages": each.pages, "groups": each.groups} for each in overview.searches],
    }


def _crawl(crawl: CrawlPeriod) -> OverviewCrawl:
    return {"name": crawl.name, "captures": crawl.captures, "first": _day(crawl.first), "last": _day(crawl.last)}


def _day(time: datetime | None) -> str | None:
    return None if time is None else f"{time:%Y-%m-%d}"


def _comparison(pair: ExamplePair) -> ExampleComparison:
    compared = pair.comparison
    return {
        "a": card_document(pair.a),
        "b": card_document(pair.b),
        "resemblance": compared.resemblance,
        "containment": compared.containment,
        "contained": compared.contained,
        "characters": pair.characters,
        "passages": [(each.start, each.end, each.other_start, each.other_end) for each in compared.passages],
    }
