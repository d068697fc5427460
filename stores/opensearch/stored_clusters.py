"""Reads the sizes of the near-duplicate clusters of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.queries.dsl.clusters import (
    CLUSTERS,
    SITES,
    largest_clusters,
    sizes_of_clusters,
)
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.store import ClusterSize, StoreError

SITE_COUNTS_PER_REQUEST = 1_000  # clusters whose sites are counted by one request

Bucket = dict[str, Any]


class StoredClusters:
    """Reads the sizes of the clusters that a clustering run has written to a store."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index

    def sizes(self, *, least: int, limit: int, offset: int) -> list[ClusterSize]:
        """Return the clusters with at least `least` pages, the largest first.

        The list is complete if the index has one shard, or if no shard has pages of more than 50,000 clusters
        (counting each page without near-duplicates as a cluster). Otherwise all sizes are still exact, but a cluster
        can be missing if no shard has two of its pages; such a cluster has no more pages than the index has shards.
        The number of sites is nearly exact up to 1,000 sites per cluster.
        """
        if offset + limit > MAX_RESULT_WINDOW:
            raise StoreError(
                f"{self._index.name} cannot be read: the engine lists only the {MAX_RESULT_WINDOW:,} largest clusters"
            )
        answer = self._aggregation(largest_clusters(least=least, size=max(offset + limit, 1)))
        buckets: list[Bucket] = answer["buckets"]
        if answer["doc_count_error_upper_bound"]:
            buckets = self._aggregation(largest_clusters(least=least, size=MAX_RESULT_WINDOW))["buckets"]
            buckets = self._recount(buckets)
        wanted = sorted(buckets, key=_largest_first)[offset : offset + limit]
        # Count the sites of these clusters only, and in batches: counting takes the engine's memory.
        sites = {
            bucket["key"]: bucket[SITES]["value"]
            for start in range(0, len(wanted), SITE_COUNTS_PER_REQUEST)
            for bucket in self._recount(wanted[start : start + SITE_COUNTS_PER_REQUEST], sites=True)
        }
        return [ClusterSize(each["key"], each["doc_count"], sites.get(each["key"], 0)) for each in wanted]

    def _recount(self, buckets: Sequence[Bucket], *, sites: bool = False) -> list[Bucket]:
        """Return buckets for the same clusters with exact sizes."""
        clusters = [bucket["key"] for bucket in buckets]
        if not clusters:
            return []
        exact: list[Bucket] = self._aggregation(sizes_of_clusters(clusters, sites=sites))["buckets"]
        return exact

    def _aggregation(self, search: Search) -> dict[str, Any]:
        answer: dict[str, Any] = self._index.search(search)["aggregations"][CLUSTERS]
        return answer


def _largest_first(bucket: Bucket) -> tuple[int, str]:
    return -bucket["doc_count"], bucket["key"]
