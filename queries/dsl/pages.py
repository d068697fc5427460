"""Searches: a query, in which order its pages come, how many, and what is told of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause, all_of

Search = dict[str, Any]

AT_ONCE = 10_000  # hits that an engine returns at most (index.max_result_window)
BY_SCORE = [{"_score": "desc"}, {"place": "asc"}]  # no two pages have the same place
BY_PLACE: list[dict[str, Any]] = [{"place": "asc"}]
ORDERS: dict[str, list[dict[str, Any]]] = {
    "written": BY_PLACE,
    "newest": [{"fetched_us": {"order": "desc", "missing": "_last"}}, {"place": "asc"}],
    "oldest": [
        {"fetched_us": {"order": "asc", "missing": "_last"}},
        {"url_length": {"order": "asc", "missing": "_last", "unmapped_type": "integer"}},
        {"url": "asc"},
        {"place": "asc"},
    ],
}


def best(query: Clause, *, size: int = AT_ONCE, fields: Sequence[str] | bool = False) -> Search:
    """The pages with the highest scores first. The next ones: `following`."""
    return {"query": query, "sort": BY_SCORE, "size": size, "_source": _source(fields), "track_total_hits": False}


def first(filters: Sequence[Clause], *, size: int = AT_ONCE, fields: Sequence[str] | bool = False) -> Search:
    """In the order in which they were first written. The next ones: `following`."""
    return {
        "query": all_of(filters),
        "sort": BY_PLACE,
        "size": size,
        "_source": _source(fields),
        "track_total_hits": False,
    }


def following(search: Search, hits: Sequence[Mapping[str, Any]]) -> Search | None:
    """The search for what comes after these hits of it; None if there cannot be any."""
    return {**search, "search_after": hits[-1]["sort"]} if hits and len(hits) == search["size"] else None


def pages(filters: Sequence[Clause], *, order: str, size: int, fields: Sequence[str] | bool) -> Search:
    """Search for the pages that meet all filters, in one of the ORDERS. The next ones: `following`."""
    return {
        "query": all_of(filters),
        "sort": ORDERS[order],
        "size": size,
        "_source": _source(fields),
        "track_total_hits": False,
    }


def count(filters: Sequence[Clause]) -> Search:
    """Exactly: its total."""
    return {"query": all_of(filters), "size": 0, "track_total_hits": True}


def _source(fields: Sequence[str] | bool) -> list[str] | bool:
    return fields if isinstance(fields, bool) else list(fields)
