"""Searches for the pages that have the words, in the order of search results."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search

# The best first, of equals the newest, then the shortest URL, then by URL. No two pages have the same place.
BY_RANK: list[dict[str, Any]] = [
    {"_score": "desc"},
    {"fetched_us": {"order": "desc", "missing": "_last"}},
    {"url_length": {"order": "asc", "missing": "_last", "unmapped_type": "integer"}},
    {"url": "asc"},
    {"place": "asc"},
]
# What is told of each without a look into its document, which takes several times as long.
SIGNATURE_FIELDS = ("site", "crawl", "cluster", "shingle_count", "minhash")
PRECISION = 40_000  # clusters up to which the engine counts nearly exactly; it knows no more
CLUSTERS, FEW_CLUSTERS, UNCLUSTERED = "clusters", "few_clusters", "unclustered"
FEW = 100
FACET, MISSING = "facet", "missing"
PERIODS: dict[str, dict[str, str]] = {
    "month": {"calendar_interval": "month", "format": "yyyy-MM"},
    "year": {"calendar_interval": "year", "format": "yyyy"},
}

COUNT_CLUSTERS = {"cardinality": {"field": "cluster", "precision_threshold": PRECISION}}
HAS_CLUSTER: Clause = {"exists": {"field": "cluster"}}


def ranked(query: Clause, *, size: int = MAX_RESULT_WINDOW) -> Search:
    """The pages in their order, with `fields` and `sort` that tell all but title and text. The next: `following`."""
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
    """The first page of each cluster, in the order of these pages. All pages without a cluster are one of them: how
    many there are is told by the aggregation UNCLUSTERED, and `with_cluster` leaves them out.

    CLUSTERS is about how many clusters there are, and FEW_CLUSTERS exactly, where they are no more than so many.
    """
    return ranked(query, size=size) | {
        "from": start,
        "collapse": {"field": "cluster"},
        "track_total_hits": True,
        "aggs": {
            CLUSTERS: COUNT_CLUSTERS,
            FEW_CLUSTERS: {"terms": {"field": "cluster", "size": FEW}},
            UNCLUSTERED: {"missing": {"field": "cluster"}},
        },
    }


def with_cluster(query: Clause) -> Clause:
    return _and(query, HAS_CLUSTER)


def unclustered(query: Clause, *, size: int = MAX_RESULT_WINDOW) -> Search:
    return ranked({"bool": {"must": [query], "must_not": [HAS_CLUSTER]}}, size=size)


def of_clusters(query: Clause, clusters: Collection[str]) -> Search:
    return ranked(_and(query, {"terms": {"cluster": list(clusters)}}))


def facet(query: Clause, name: str, *, size: int, clusters: bool = False) -> Search:
    """As aggregations: FACET is the pages by site, crawl, month or year, MISSING those where it is not known.

    With `clusters` also about how many these are of.
    """
    field = "fetched_at" if name in PERIODS else name
    values = (
        {"date_histogram": {"field": field, "min_doc_count": 1, **PERIODS[name]}}
        if name in PERIODS
        else {"terms": {"field": field, "size": size, "order": [{"_count": "desc"}, {"_key": "asc"}]}}
    )
    below = {"aggs": {CLUSTERS: COUNT_CLUSTERS}} if clusters else {}
    aggregations = {FACET: values | below, MISSING: {"missing": {"field": field}} | below}
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": aggregations}


def without_place(query: Clause) -> Clause:
    """Documents that were put there past the pipeline, and not by us."""
    return {"bool": {"must": [query], "must_not": [{"exists": {"field": "place"}}]}}


def _and(query: Clause, clause: Clause) -> Clause:
    return {"bool": {"must": [query], "filter": [clause]}}
