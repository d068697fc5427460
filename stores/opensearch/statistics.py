"""Counts what a store holds: pages, URLs, sites, crawls, token frequencies and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, get_args

from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import time_of
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field
from opensearch_winnow.stores.opensearch.complete_answers import complete
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.reading import scan
from opensearch_winnow.stores.store import Crawl, Statistics

FIELDS: tuple[Field, ...] = get_args(Field)
VALUES_PER_REQUEST = 10_000
MAX_VALUES_COUNTED = 100_000  # sites or URLs; more are estimated, to about 1 %
PAGES_PER_REQUEST = 500  # their tokens are in memory at a time
MAX_TOKENS_COUNTED = 1_000_000  # distinct tokens of a field in memory: some 100 MB
HASH_RANGE = 2**64
MAX_CRAWLS = 10_000  # buckets that an engine returns by default
CRAWL_TIMES = {
    "first": {"min": {"field": "fetched_us"}},
    "last": {"max": {"field": "fetched_us"}},
    "written": {"max": {"field": "place"}},
}
# What the files of a Lucene index hold, by the extension of their names. Others count as "other".
FILE_KINDS = {
    "fdt": "documents",
    "fdx": "documents",
    "fdm": "documents",
    "tim": "terms",
    "tip": "terms",
    "tmd": "terms",
    "doc": "postings",
    "pos": "postings",
    "pay": "postings",
    "psm": "postings",
    "nvd": "norms",
    "nvm": "norms",
    "dvd": "values",
    "dvm": "values",
    "kdd": "values",
    "kdi": "values",
    "kdm": "values",
}


class Frequencies:
    """Counts on how many pages each token is.

    If there are more than `max_tokens`, only those below a threshold are counted, and the result is scaled up. Tokens
    are hashes, which are spread evenly, so that this is a fair sample.
    """

    def __init__(self, max_tokens: int = MAX_TOKENS_COUNTED) -> None:
        self._max_tokens = max_tokens
        self._below = HASH_RANGE
        self._pages: Counter[int] = Counter()

    def add(self, hashes: Iterable[int]) -> None:
        """Count the tokens of one page."""
        self._pages.update({each for each in hashes if each < self._below})
        while len(self._pages) > self._max_tokens:
            self._below //= 2
            self._pages = Counter({each: pages for each, pages in self._pages.items() if each < self._below})

    def tokens(self) -> dict[int, int]:
        """Return how many tokens are on exactly n pages, by n."""
        scale = HASH_RANGE // self._below
        return {pages: tokens * scale for pages, tokens in Counter(self._pages.values()).items()}


def statistics(index: IndexClient, indices: Sequence[str]) -> Statistics:
    """Return the statistics of a store. Reads all tokens of all pages, so it takes time on a large store."""
    frequencies = {field: Frequencies() for field in FIELDS}
    for hit in scan(index, [], size=PAGES_PER_REQUEST, fields=FIELDS):
        for field, counted in frequencies.items():
            counted.add(unpacked_tokens(hit["_source"][field]))
    return Statistics(
        pages=index.count([]),
        urls=_urls(index),
        sites=_distinct(index, "site"),
        frequencies={field: counted.tokens() for field, counted in frequencies.items()},
        sizes=_sizes(index, indices),
    )


def _urls(index: IndexClient) -> int:
    if index.has_latest:
        return index.count(conditions(Filters(latest=True)))  # each URL has one latest capture
    return _distinct(index, "url")


def _distinct(index: IndexClient, field: str) -> int:
    """Return the number of different values: exact up to MAX_VALUES_COUNTED, estimated above."""
    composite: dict[str, Any] = {"size": VALUES_PER_REQUEST, "sources": [{"value": {"terms": {"field": field}}}]}
    values = 0
    while values < MAX_VALUES_COUNTED:
        answer = _aggregate(index, {"composite": composite})
        values += len(answer["buckets"])
        if len(answer["buckets"]) < VALUES_PER_REQUEST:
            return values
        composite["after"] = answer["after_key"]
    estimated: int = _aggregate(index, {"cardinality": {"field": field, "precision_threshold": 40_000}})["value"]
    return max(values, estimated)


def _aggregate(index: IndexClient, aggregation: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = index.search({"size": 0, "aggs": {"found": aggregation}})["aggregations"]["found"]
    return answer


def _sizes(index: IndexClient, indices: Sequence[str]) -> dict[str, int]:
    """Return the bytes of all copies of the indices, by what takes them."""
    with reporting_engine_errors(index.name, "read"):
        answer = index.client.indices.stats(
            index=",".join(indices),
            metric="store,segments,translog",
            params={"include_segment_file_sizes": "true", "ignore_unavailable": "true"},
        )
        stats = complete(answer)["_all"]["total"]
    parts: Counter[str] = Counter()
    for extension, file in stats["segments"].get("file_sizes", {}).items():
        parts[FILE_KINDS.get(extension, "other")] += file["size_in_bytes"]
    parts["log"] = stats["translog"]["size_in_bytes"]
    # The rest is files that are written but not yet opened, or replaced but not yet deleted.
    parts["other"] += max(stats["store"]["size_in_bytes"] - parts.total(), 0)
    return {part: size for part, size in parts.items() if size}


def crawls(index: IndexClient) -> list[Crawl]:
    """Return the crawls that have a name, in the order of their last captures; if these are equal, as written."""
    by_name = {"terms": {"field": "crawl", "size": MAX_CRAWLS}, "aggs": CRAWL_TIMES}
    found = index.search({"size": 0, "aggs": {"crawls": by_name}})["aggregations"]["crawls"]
    buckets = sorted((each for each in found["buckets"] if each["key"]), key=_crawl_order)
    return [Crawl(each["key"], each["doc_count"], _time(each["first"]), _time(each["last"])) for each in buckets]


def _crawl_order(bucket: dict[str, Any]) -> tuple[bool, float, float]:
    last, written = bucket["last"]["value"], bucket["written"]["value"]
    return last is not None, last or 0.0, written or 0.0


def _time(found: dict[str, Any]) -> datetime | None:
    return None if found["value"] is None else time_of(round(found["value"]))
