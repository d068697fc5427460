"""Reads all pages of a store as of one moment, in the order in which they were first written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import first
from opensearch_winnow.stores.opensearch.index_client import Hit, IndexClient

KEEP_ALIVE = "10m"  # for which the engine keeps the frozen state between two requests


def scan(index: IndexClient, filters: Sequence[Clause], *, size: int, fields: Sequence[str] | bool) -> Iterator[Hit]:
    """Yield the hits for `filters`; `size` of them are in memory at a time."""
    search = first(filters, size=size, fields=fields)
    return _by_points_in_time(index, search) if index.engine.point_in_time else _by_scroll(index, search)


def _by_points_in_time(index: IndexClient, search: dict[str, Any]) -> Iterator[Hit]:
    point = index.open_point(KEEP_ALIVE)
    try:
        yield from index.all_hits(search | {"pit": {"id": point, "keep_alive": KEEP_ALIVE}})
    finally:
        index.close_point(point)


def _by_scroll(index: IndexClient, search: dict[str, Any]) -> Iterator[Hit]:
    answer = index.search(search | {"track_total_hits": True}, scroll=KEEP_ALIVE)  # a scroll requires a total
    try:
        while hits := answer["hits"]["hits"]:
            yield from hits
            answer = index.scroll(answer["_scroll_id"], KEEP_ALIVE)
    finally:
        index.clear_scroll(answer["_scroll_id"])
