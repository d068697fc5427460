"""The clusters of a store: how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.queries.dsl.clusters import (
    CLUSTERS,
    SITES,
    largest_clusters,
    sizes_of_clusters,
)
from opensearch_winnow.queries.dsl.pages import AT_ONCE, Search
from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.store import ClusterSize, StoreError

COUNTED = 1_000  # clusters whose sites are counted at a time

Bucket = dict[str, Any]


class StoredClusters:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def sizes(self, *, least: int, limit: int, offset: int) -> list[ClusterSize]:
        """Exact on one shard; and on several, as long as none has pages of more than 50,000 clusters, with the pages
        that are alone among them.

        Where one has, all sizes are still exact, but a cluster can be missing of which no shard has two pages: so it
        has no more pages than there are shards. Sites of a cluster are counted nearly exactly up to 1,000.
        """
        if offset + limit > AT_ONCE:
            raise StoreError(
                f"{self._cluster.name} cannot be read: the engine tells of the {AT_ONCE:,} largest clusters"
            )
        found = self._answer(largest_clusters(least=least, size=max(offset + limit, 1)))
        buckets: list[Bucket] = found["buckets"]
        if found["doc_count_error_upper_bound"]:
            buckets = self._answer(largest_clusters(least=least, size=AT_ONCE))["buckets"]
            buckets = self._counted(buckets)
        shown = sorted(buckets, key=_largest_first)[offset : offset + limit]
        # Sites of these alone, and of not too many at a time: counting them takes the engine's memory.
        sites = {
            bucket["key"]: bucket[SITES]["value"]
            for start in range(0, len(shown), COUNTED)
            for bucket in self._counted(shown[start : start + COUNTED], sites=True)
        }
        return [ClusterSize(each["key"], each["doc_count"], sites.get(each["key"], 0)) for each in shown]

    def _counted(self, buckets: Sequence[Bucket], *, sites: bool = False) -> list[Bucket]:
        clusters = [bucket["key"] for bucket in buckets]
        counted: list[Bucket] = self._answer(sizes_of_clusters(clusters, sites=sites))["buckets"] if clusters else []
        return counted

    def _answer(self, search: Search) -> dict[str, Any]:
        answer: dict[str, Any] = self._cluster.search(search)["aggregations"][CLUSTERS]
        return answer


def _largest_first(bucket: Bucket) -> tuple[int, str]:
    return -bucket["doc_count"], bucket["key"]
