"""Builds searches: a query with an order, a size and the fields to return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause, all_of

Search = dict[str, Any]

MAX_HITS_PER_ANSWER = 10_000  # maximum hits of one answer (index.max_result_window)
BY_SCORE = [{"_score": "desc"}, {"arrival": "asc"}]  # no two pages have the same arrival
BY_ARRIVAL: list[dict[str, Any]] = [{"arrival": "asc"}]
ORDERS: dict[str, list[dict[str, Any]]] = {
    "written": BY_ARRIVAL,
    "newest": [{"fetched_us": {"order": "desc", "missing": "_last"}}, {"arrival": "asc"}],
    "oldest": [
        {"fetched_us": {"order": "asc", "missing": "_last"}},
        {"url_length": {"order": "asc", "missing": "_last", "unmapped_type": "integer"}},
        {"url": "asc"},
        {"arrival": "asc"},
    ],
    "url": [{"url": "asc"}, {"arrival": "asc"}],
}


def best(query: Clause, *, size: int = MAX_HITS_PER_ANSWER, fields: Sequence[str] | bool = False) -> Search:
    """Return a search for pages, the highest scores first. `following` makes the search for the next ones."""
    return {"query": query, "sort": BY_SCORE, "size": size, "_source": _source(fields), "track_total_hits": False}


def best_by_doc_values(query: Clause, fields: Sequence[str]) -> Search:
    """Return the search of `best`, with `fields` from doc values and without ids: the engine reads no document."""
    return best(query) | {"stored_fields": "_none_", "docvalue_fields": list(fields)}


def first(
    filters: Sequence[Clause], *, size: int = MAX_HITS_PER_ANSWER, fields: Sequence[str] | bool = False
) -> Search:
    """Return a search for pages in the order of their first write. `following` makes the search for the next ones."""
    return {
        "query": all_of(filters),
        "sort": BY_ARRIVAL,
        "size": size,
        "_source": _source(fields),
        "track_total_hits": False,
    }


def following(search: Search, hits: Sequence[Mapping[str, Any]]) -> Search | None:
    """Return the search for the pages after these hits of `search`; None if there are no more."""
    return {**search, "search_after": hits[-1]["sort"]} if hits and len(hits) == search["size"] else None


def pages(filters: Sequence[Clause], *, order: str, size: int, fields: Sequence[str] | bool) -> Search:
    """Return a search for the pages that meet all filters, in one of the ORDERS; `following` makes the next one."""
    return {
        "query": all_of(filters),
        "sort": ORDERS[order],
        "size": size,
        "_source": _source(fields),
        "track_total_hits": False,
    }


def count(filters: Sequence[Clause]) -> Search:
    """Return a search whose total is the exact number of pages."""
    return {"query": all_of(filters), "size": 0, "track_total_hits": True}


def _source(fields: Sequence[str] | bool) -> list[str] | bool:
    return fields if isinstance(fields, bool) else list(fields)
