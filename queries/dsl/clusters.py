"""Searches for the clusters of a store: how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import all_of
from opensearch_winnow.queries.dsl.pages import Search

CLUSTERS, SITES = "clusters", "sites"  # aggregations
TOLD = 50_000  # clusters that a shard tells of
FEW_SITES = 1_000  # up to which those of a cluster are counted nearly exactly: the engine takes 8 bytes for each


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
