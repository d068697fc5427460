"""Builds searches for full-text hits in the order of search results, for their clusters and their facets."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search

# The best first; among equals the newest, then the shortest URL, then by URL. No two pages have the same arrival.
BY_RANK: list[dict[str, Any]] = [
    {"_score": "desc"},
    {"fetched_us": {"order": "desc", "missing": "_last"}},
    {"url_length": {"order": "asc", "missing": "_last", "unmapped_type": "integer"}},
    {"url": "asc"},
    {"arrival": "asc"},
]
# Read from doc values: reading them from the document takes several times as long.
SIGNATURE_FIELDS = ("site", "crawl", "cluster", "shingle_count", "minhash", "canonical")
PRECISION = 40_000  # clusters up to which the engine's count is nearly exact; the highest value that engines accept
CLUSTERS, FEW_CLUSTERS, UNCLUSTERED = "clusters", "few_clusters", "unclustered"  # names of aggregations
MAX_EXACT_CLUSTERS = 100  # up to which FEW_CLUSTERS lists them
# The names of two aggregations are the name of a facet and one of these. That alone would be the name of a field.
VALUES, MISSING = " values", " missing"
PERIODS: dict[str, dict[str, str]] = {
    "month": {"calendar_interval": "month", "format": "yyyy-MM"},
    "year": {"calendar_interval": "year", "format": "yyyy"},
}

COUNT_CLUSTERS = {"cardinality": {"field": "cluster", "precision_threshold": PRECISION}}
HAS_CLUSTER: Clause = {"exists": {"field": "cluster"}}


def ranked(query: Clause, *, size: int = MAX_HITS_PER_ANSWER) -> Search:
    """Return a search for hits in order, with all but title and text in their `fields` and `sort`.

    `following` makes the search for the next ones.
    """
    return {
        "query": query,
        "sort": BY_RANK,
        "size": size,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": list(SIGNATURE_FIELDS),
        "track_total_hits": False,
    }


def clustered(query: Clause, *, start: int, size: int) -> Search:
    """Return a search for the best hit of each cluster, in order.

    All pages without a cluster count as one cluster: the aggregation UNCLUSTERED counts them, and `with_cluster` leaves
    them out. CLUSTERS estimates the number of clusters; FEW_CLUSTERS lists them if there are at most
    MAX_EXACT_CLUSTERS.
    """
    return ranked(query, size=size) | {
        "from": start,
        "collapse": {"field": "cluster"},
        "track_total_hits": True,
        "aggs": {
            CLUSTERS: COUNT_CLUSTERS,
            FEW_CLUSTERS: {"terms": {"field": "cluster", "size": MAX_EXACT_CLUSTERS}},
            UNCLUSTERED: {"missing": {"field": "cluster"}},
        },
    }


def with_cluster(query: Clause) -> Clause:
    """Return a query for the pages of `query` that have a cluster."""
    return _and(query, HAS_CLUSTER)


def unclustered(query: Clause, *, size: int = MAX_HITS_PER_ANSWER) -> Search:
    """Return a search for the hits without a cluster."""
    return ranked({"bool": {"must": [query], "must_not": [HAS_CLUSTER]}}, size=size)


def of_clusters(query: Clause, clusters: Collection[str]) -> Search:
    """Return a search for the hits in any of these clusters."""
    return ranked(_and(query, {"terms": {"cluster": list(clusters)}}))


def facets(query: Clause, names: Iterable[str], *, size: int, clusters: bool = False) -> Search:
    """Return a search that counts hits by site, crawl, month or year.

    For each name, the aggregation name + VALUES has the values, and name + MISSING the hits without one. With
    `clusters`, both also estimate the number of clusters of their hits.
    """
    below = {"aggs": {CLUSTERS: COUNT_CLUSTERS}} if clusters else {}
    aggregations: dict[str, Any] = {}
    for name in names:
        field = "fetched_at" if name in PERIODS else name
        values = (
            {"date_histogram": {"field": field, "min_doc_count": 1, **PERIODS[name]}}
            if name in PERIODS
            else {"terms": {"field": field, "size": size, "order": [{"_count": "desc"}, {"_key": "asc"}]}}
        )
        aggregations |= {name + VALUES: values | below, name + MISSING: {"missing": {"field": field}} | below}
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": aggregations}


def without_arrival(query: Clause) -> Clause:
    """Return a query for hits that were written by other software, past the ingest pipeline."""
    return {"bool": {"must": [query], "must_not": [{"exists": {"field": "arrival"}}]}}


def _and(query: Clause, clause: Clause) -> Clause:
    return {"bool": {"must": [query], "filter": [clause]}}
