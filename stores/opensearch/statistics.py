"""What a store holds, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field
from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.opensearch.scans import scan
from opensearch_winnow.stores.store import Statistics

FIELDS: tuple[Field, ...] = get_args(Field)
SITES = 10_000  # in an answer
MOST_SITES = 100_000  # that are counted; more are estimated, to about 1 %
PAGES = 500  # whose tokens are in memory at a time
MOST_TOKENS = 1_000_000  # of a field that are counted at a time: some 100 MB
ALL_HASHES = 2**64
# Files of an index by what their names end with. What is not here is told as other.
PARTS = {
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
    """On how many pages tokens are. Where there are too many for the memory, those of a part of all hashes are counted,
    and stand for the others: hashes are spread evenly."""

    def __init__(self, most: int = MOST_TOKENS) -> None:
        self._most = most
        self._below = ALL_HASHES
        self._pages: Counter[int] = Counter()

    def add(self, hashes: Iterable[int]) -> None:
        """Those of a page."""
        self._pages.update({each for each in hashes if each < self._below})
        while len(self._pages) > self._most:
            self._below //= 2
            self._pages = Counter({each: pages for each, pages in self._pages.items() if each < self._below})

    def tokens(self) -> dict[int, int]:
        """How many there are on so many pages."""
        scale = ALL_HASHES // self._below
        return {pages: tokens * scale for pages, tokens in Counter(self._pages.values()).items()}


def statistics(cluster: Cluster, indices: Sequence[str]) -> Statistics:
    """Of each URL one capture is the latest. All tokens of all pages are read, which takes its time."""
    frequencies = {field: Frequencies() for field in FIELDS}
    for hit in scan(cluster, [], size=PAGES, fields=FIELDS):
        for field, counted in frequencies.items():
            counted.add(unpacked_tokens(hit["_source"][field]))
    return Statistics(
        pages=cluster.count([]),
        urls=cluster.count(conditions(Filters(latest=True))),
        sites=_sites(cluster),
        frequencies={field: counted.tokens() for field, counted in frequencies.items()},
        sizes=_sizes(cluster, indices),
    )


def _sites(cluster: Cluster) -> int:
    """Counted one by one; or if they are a great many, estimated."""
    asked: dict[str, Any] = {"size": SITES, "sources": [{"site": {"terms": {"field": "site"}}}]}
    sites = 0
    while sites < MOST_SITES:
        found = _aggregation(cluster, {"composite": asked})
        sites += len(found["buckets"])
        if len(found["buckets"]) < SITES:
            return sites
        asked["after"] = found["after_key"]
    estimated: int = _aggregation(cluster, {"cardinality": {"field": "site", "precision_threshold": 40_000}})["value"]
    return max(sites, estimated)


def _aggregation(cluster: Cluster, asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = cluster.search({"size": 0, "aggs": {"found": asked}})["aggregations"]["found"]
    return found


def _sizes(cluster: Cluster, indices: Sequence[str]) -> dict[str, int]:
    """In bytes, of all copies, by part."""
    with told(cluster.name, "read"):
        found = cluster.client.indices.stats(
            index=",".join(indices),
            metric="store,segments,translog",
            params={"include_segment_file_sizes": "true", "ignore_unavailable": "true"},
        )["_all"]["total"]
    parts: Counter[str] = Counter()
    for ending, file in found["segments"].get("file_sizes", {}).items():
        parts[PARTS.get(ending, "other")] += file["size_in_bytes"]
    parts["log"] = found["translog"]["size_in_bytes"]
    # The rest: files that are written and not yet open, or open and not yet deleted.
    parts["other"] += max(found["store"]["size_in_bytes"] - parts.total(), 0)
    return {part: size for part, size in parts.items() if size}
