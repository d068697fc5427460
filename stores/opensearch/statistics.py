"""Counts the pages, URLs, sites, crawls, token frequencies and bytes of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, get_args

from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import time_of
from opensearch_winnow.queries.asking.lookups import Field
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.frequency import holders, suspected, suspects, with_any
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.opensearch.index_client import IndexClient, total
from opensearch_winnow.stores.opensearch.reading import scan
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
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
    "written": {"max": {"field": "arrival"}},
}
# The content of the files of a Lucene index, by the extension of their names. Others count as "other".
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
    """Counts the pages of each token.

    If there are more than `max_tokens` tokens, only tokens below a threshold are counted, and the result is scaled up.
    Tokens are hashes, which are spread evenly, so this is a fair sample.
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
        """Return {n: number of tokens on exactly n pages}."""
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
    """Return the bytes of all copies of the indices, by use."""
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
    # The rest: files that are written but not yet opened, or replaced but not yet deleted.
    parts["other"] += max(stats["store"]["size_in_bytes"] - parts.total(), 0)
    return {part: size for part, size in parts.items() if size}


def crawls(index: IndexClient) -> list[Crawl]:
    """Return the crawls that have a name, in the order of their last captures; if these are equal, as written."""
    by_name = {"terms": {"field": "crawl", "size": MAX_CRAWLS}, "aggs": CRAWL_TIMES}
    buckets = sorted((each for each in _aggregate(index, by_name)["buckets"] if each["key"]), key=_crawl_order)
    return [Crawl(each["key"], each["doc_count"], _time(each["first"]), _time(each["last"])) for each in buckets]


def _crawl_order(bucket: dict[str, Any]) -> tuple[bool, float, float]:
    last, written = bucket["last"]["value"], bucket["written"]["value"]
    return last is not None, last or 0.0, written or 0.0


def _time(found: dict[str, Any]) -> datetime | None:
    return None if found["value"] is None else time_of(round(found["value"]))


class Shards:
    """Asks every shard for token frequencies.

    Remembers a routing value that leads to each shard, until the alias points to other indices.
    """

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._routings: dict[tuple[str, int], str] = {}  # by index and number of the shard

    def frequent(self, tokens: Mapping[str, Collection[str]], *, over: int) -> dict[tuple[str, str], int]:
        """Return the tokens on more than `over` pages: {(field, token): number of pages}."""
        wanted = {field: each for field, each in tokens.items() if each}
        if not wanted:
            return {}
        checks = [with_any(field, each, up_to=over + 1) for field, each in wanted.items()]
        if all(total(answer) <= over for answer in self._index.searches(checks)):
            return {}
        documents = self._term_vectors(wanted, over)
        candidates = [(field, token) for field, some in suspected(documents, over=over).items() for token in some]
        counts = map(total, self._index.searches([holders(*each) for each in candidates]))
        return {each: pages for each, pages in zip(candidates, counts, strict=True) if pages > over}

    def _term_vectors(self, tokens: Mapping[str, Collection[str]], over: int) -> list[dict[str, Any]]:
        while True:
            if not self._routings:
                self._find_routings()
            indices = [index for index, _ in self._routings]
            # By the alias if one index is behind it, because the alias may point to another index at any time.
            names = indices if len(set(indices)) > 1 else [self._index.index_name] * len(indices)
            shards = list(zip(names, self._routings.values(), strict=True))
            documents = self._index.term_vectors(suspects(tokens, over=over, shards=shards))
            if [document["_index"] for document in documents] == indices:
                return documents
            self._routings = {}  # the store was migrated, and may have other shards now

    def _find_routings(self) -> None:
        with reporting_engine_errors(self._index.name, "read"):
            shards = len(self._shards())
            for routing in map(str, count()):
                if len(self._routings) >= shards:
                    break
                for each in self._shards(routing=routing):
                    self._routings.setdefault((each[0]["index"], each[0]["shard"]), routing)

    def _shards(self, **parameters: str) -> list[list[dict[str, Any]]]:
        """Return the shards, each with its copies."""
        answer = self._index.client.search_shards(index=self._index.index_name, params=parameters)
        shards: list[list[dict[str, Any]]] = answer["shards"]
        return shards
