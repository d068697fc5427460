"""Reads the sizes of the near-duplicate clusters of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.queries.dsl.filters import all_of, conditions
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.store import ClusterSize, StoreError

CLUSTERS, SITES, URLS = "clusters", "sites", "urls"  # names of aggregations
MAX_CLUSTERS_PER_SHARD = 50_000  # to report
PRECISION = 1_000  # counts of sites and of URLs are nearly exact up to here; the engine takes 8 bytes for each
SPREADS_PER_REQUEST = 1_000  # clusters whose sites and URLs are counted by one request

Bucket = dict[str, Any]


class StoredClusters:
    """Reads the sizes of the clusters that a clustering run has written to a store."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index

    def sizes(self, *, min_pages: int, site: str | None, limit: int, offset: int) -> list[ClusterSize]:
        """Return the clusters with at least `min_pages` pages, one of them on `site` if given: the largest first.

        The list is complete if the index has one shard, or if no shard has pages of more than 50,000 clusters
        (counting each page without near-duplicates as a cluster). Otherwise all sizes are still exact, but a cluster
        can be missing if no shard has two of its pages; such a cluster has no more pages than the index has shards.
        The numbers of sites and of URLs are nearly exact up to 1,000 of them per cluster, and exact for small clusters.
        With a `site`, only the 10,000 clusters with most pages on it are listed.
        """
        if offset + limit > MAX_HITS_PER_ANSWER:
            raise StoreError(
                f"{self._index.name} cannot be read: the engine lists only the {MAX_HITS_PER_ANSWER:,} largest clusters"
            )
        wanted = (self._largest(min_pages, offset + limit) if site is None else self._largest_on_site(min_pages, site))[
            offset : offset + limit
        ]
        # Count the sites and URLs of these clusters only, and in batches: counting takes the engine's memory.
        spreads = {
            bucket["key"]: (bucket[SITES]["value"], bucket[URLS]["value"])
            for some in batches(wanted, SPREADS_PER_REQUEST)
            for bucket in self._recount(some, spread=True)
        }
        return [ClusterSize(each["key"], each["doc_count"], *spreads.get(each["key"], (0, 0))) for each in wanted]

    def _largest(self, min_pages: int, size: int) -> list[Bucket]:
        answer = self._aggregation(_largest_clusters(min_pages=min_pages, size=max(size, 1)))
        buckets: list[Bucket] = answer["buckets"]
        if answer["doc_count_error_upper_bound"]:
            buckets = self._aggregation(_largest_clusters(min_pages=min_pages, size=MAX_HITS_PER_ANSWER))["buckets"]
            buckets = self._recount(buckets)
        return sorted(buckets, key=_largest_first)

    def _largest_on_site(self, min_pages: int, site: str) -> list[Bucket]:
        on_site = self._aggregation(_largest_clusters(min_pages=1, size=MAX_HITS_PER_ANSWER, site=site))["buckets"]
        return sorted((each for each in self._recount(on_site) if each["doc_count"] >= min_pages), key=_largest_first)

    def _recount(self, buckets: Sequence[Bucket], *, spread: bool = False) -> list[Bucket]:
        """Return buckets for the same clusters with exact sizes."""
        clusters = [bucket["key"] for bucket in buckets]
        if not clusters:
            return []
        exact: list[Bucket] = self._aggregation(_sizes_of_clusters(clusters, spread=spread))["buckets"]
        return exact

    def _aggregation(self, search: Search) -> dict[str, Any]:
        answer: dict[str, Any] = self._index.search(search)["aggregations"][CLUSTERS]
        return answer


def _largest_first(bucket: Bucket) -> tuple[int, str]:
    return -bucket["doc_count"], bucket["key"]


def _largest_clusters(*, min_pages: int, size: int, site: str | None = None) -> Search:
    """Return a search for clusters of at least `min_pages` pages, as buckets of CLUSTERS, largest first, then by id.

    With `site`, only pages on that site are counted. The answer is exact if its `doc_count_error_upper_bound` is 0.
    Otherwise a shard has pages of more than MAX_CLUSTERS_PER_SHARD clusters.
    """
    terms = {
        "field": "cluster",
        "min_doc_count": min_pages,
        "size": size,
        "shard_size": MAX_CLUSTERS_PER_SHARD,
        "order": [{"_count": "desc"}, {"_key": "asc"}],
    }
    query = all_of(conditions(Filters(site=site)))
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {CLUSTERS: {"terms": terms}}}


def _sizes_of_clusters(clusters: Sequence[str], *, spread: bool = False) -> Search:
    """Return a search for the exact sizes of clusters, as buckets of CLUSTERS; with `spread`, for their SITES and URLS
    as well."""
    counts: dict[str, Any] = {
        "terms": {"field": "cluster", "include": list(clusters), "size": len(clusters), "shard_size": len(clusters)}
    }
    if spread:
        counts["aggs"] = {
            SITES: {"cardinality": {"field": "site", "precision_threshold": PRECISION}},
            # URLs that are too long to be indexed are missing; together they count as one.
            URLS: {"cardinality": {"field": "url", "precision_threshold": PRECISION, "missing": ""}},
        }
    query = all_of([{"terms": {"cluster": list(clusters)}}])
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {CLUSTERS: counts}}
