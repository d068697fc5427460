"""Searches: a query, in which order its pages come, how many, and what is told of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause, all_of, of_urls, until

Search = dict[str, Any]

MAX_RESULT_WINDOW = 10_000  # hits that an engine returns at most (index.max_result_window)
BY_SCORE = [{"_score": "desc"}, {"place": "asc"}]  # no two pages have the same place
BY_PLACE = [{"place": "asc"}]
LATEST_FIRST = [{"fetched_us": {"order": "desc", "missing": "_last"}}, {"place": "asc"}]


def best(query: Clause, *, size: int = MAX_RESULT_WINDOW, fields: Sequence[str] | bool = False) -> Search:
    """The pages with the highest scores first. The next ones: `following`."""
    return {"query": query, "sort": BY_SCORE, "size": size, "_source": _source(fields), "track_total_hits": False}


def first(filters: Sequence[Clause], *, size: int = MAX_RESULT_WINDOW, fields: Sequence[str] | bool = False) -> Search:
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


def captures(url: str, *, fields: Sequence[str] | bool = True) -> Search:
    """Of a URL, the latest first; those without a time last."""
    return {
        "query": all_of([of_urls([url])]),
        "sort": LATEST_FIRST,
        "size": MAX_RESULT_WINDOW,
        "_source": _source(fields),
        "track_total_hits": False,
    }


def capture(url: str, at: datetime | None = None) -> Search:
    """The latest capture of a URL; or the last one whose time is known and not after `at`."""
    asked = captures(url)
    asked["query"] = all_of([of_urls([url]), *([until(at)] if at is not None else [])])
    return asked | {"size": 1}


def count(filters: Sequence[Clause]) -> Search:
    """Exactly: its total."""
    return {"query": all_of(filters), "size": 0, "track_total_hits": True}


def _source(fields: Sequence[str] | bool) -> list[str] | bool:
    return fields if isinstance(fields, bool) else list(fields)
