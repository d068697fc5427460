"""Searches for the clusters of a store: how large they are, and which pages are in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import all_of
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search

CLUSTERS, SITES = "clusters", "sites"  # aggregations
TOLD = 50_000  # clusters that a shard tells of
FEW_SITES = 1_000  # up to which those of a cluster are counted nearly exactly: the engine takes 8 bytes for each
# In the order of time, unknown last; then the shortest URL, then by URL. No two pages have the same place.
IN_ORDER: list[dict[str, Any]] = [
    {"fetched_us": {"order": "asc", "missing": "_last"}},
    {"url_length": {"order": "asc", "missing": "_last", "unmapped_type": "integer"}},
    {"url": "asc"},
    {"place": "asc"},
]


def largest_clusters(*, least: int, size: int) -> Search:
    """The clusters of so many pages at least, as buckets of CLUSTERS: the largest first, then by id.

    Exact where its `doc_count_error_upper_bound` is 0. Else a shard has more than TOLD.
    """
    order = [{"_count": "desc"}, {"_key": "asc"}]
    asked = {"field": "cluster", "min_doc_count": least, "size": size, "shard_size": TOLD, "order": order}
    return {"size": 0, "track_total_hits": False, "aggs": {CLUSTERS: {"terms": asked}}}


def sizes_of_clusters(clusters: Sequence[str], *, sites: bool = False) -> Search:
    """How many pages these clusters have, exactly, and on request how many sites: as buckets of CLUSTERS."""
    counted: dict[str, Any] = {
        "terms": {"field": "cluster", "include": list(clusters), "size": len(clusters), "shard_size": len(clusters)}
    }
    if sites:
        counted["aggs"] = {SITES: {"cardinality": {"field": "site", "precision_threshold": FEW_SITES}}}
    query = all_of([{"terms": {"cluster": list(clusters)}}])
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {CLUSTERS: counted}}


def cluster_members(cluster: str, *, size: int = MAX_RESULT_WINDOW, fields: Sequence[str]) -> Search:
    """The pages of a cluster, in the order of clusters. The next ones: `following`."""
    return {
        "query": all_of([{"term": {"cluster": cluster}}]),
        "sort": IN_ORDER,
        "size": min(size, MAX_RESULT_WINDOW),
        "_source": list(fields),
        "track_total_hits": False,
    }
