"""Builds searches for the sizes of a store's near-duplicate clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import all_of, conditions
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.queries.filters import Filters

CLUSTERS, SITES, URLS = "clusters", "sites", "urls"  # names of aggregations
MAX_CLUSTERS_PER_SHARD = 50_000  # that a shard reports
PRECISION = 1_000  # sites and URLs of a cluster up to which counts are nearly exact; the engine takes 8 bytes for each


def largest_clusters(*, min_pages: int, size: int, site: str | None = None) -> Search:
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


def sizes_of_clusters(clusters: Sequence[str], *, spread: bool = False) -> Search:
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
