"""Reads all pages of a store as of one moment, in the order in which they were first written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import first, following
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import NO_PARTIAL_RESULTS, Hit, IndexClient
from opensearch_winnow.stores.store import StoreError

KEEP_ALIVE = "10m"  # for which the engine keeps the frozen state between two requests


def scan(index: IndexClient, filters: Sequence[Clause], *, size: int, fields: Sequence[str] | bool) -> Iterator[Hit]:
    """Yield the hits for `filters`; `size` of them are in memory at a time."""
    search = first(filters, size=size, fields=fields)
    return _by_points_in_time(index, search) if index.has_points_in_time else _by_scroll(index, search)


def _by_points_in_time(index: IndexClient, search: dict[str, Any]) -> Iterator[Hit]:
    client = index.client
    with reporting_engine_errors(index.name, "read"):
        point = client.create_pit(
            index=index.index_name, params={"keep_alive": KEEP_ALIVE, "allow_partial_pit_creation": "false"}
        )["pit_id"]
    try:
        rest: dict[str, Any] | None = search | {"pit": {"id": point, "keep_alive": KEEP_ALIVE}}
        while rest is not None:
            with reporting_engine_errors(index.name, "read"):
                hits = client.search(body=rest, params=NO_PARTIAL_RESULTS)["hits"]["hits"]
            yield from hits
            rest = following(rest, hits)
    finally:
        with suppress(StoreError), reporting_engine_errors(index.name, "read"):  # otherwise it expires by itself
            client.delete_pit(body={"pit_id": [point]})


def _by_scroll(index: IndexClient, search: dict[str, Any]) -> Iterator[Hit]:
    client = index.client
    body = search | {"track_total_hits": True}  # a scroll requires a total
    with reporting_engine_errors(index.name, "read"):
        answer = client.search(index=index.index_name, body=body, params=NO_PARTIAL_RESULTS | {"scroll": KEEP_ALIVE})
    try:
        while hits := answer["hits"]["hits"]:
            yield from hits
            with reporting_engine_errors(index.name, "read"):
                answer = client.scroll(body={"scroll_id": answer["_scroll_id"], "scroll": KEEP_ALIVE})
            if answer["_shards"]["failed"]:
                raise StoreError(f"{index.name} cannot be read: a shard has stopped answering; try again")
    finally:
        with suppress(StoreError), reporting_engine_errors(index.name, "read"):
            client.clear_scroll(body={"scroll_id": [answer["_scroll_id"]]})
