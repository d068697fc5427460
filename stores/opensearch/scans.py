"""All pages of a store, as they are at one time, in the order in which they were first written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import first, following
from opensearch_winnow.stores.opensearch.cluster import WHOLE, Cluster, Hit
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.store import StoreError

KEPT = "10m"  # that the engine keeps the state of that time for whoever is slow between two requests


def scan(cluster: Cluster, filters: Sequence[Clause], *, size: int, fields: Sequence[str] | bool) -> Iterator[Hit]:
    """`size` of them are in memory at a time."""
    search = first(filters, size=size, fields=fields)
    return _by_points_in_time(cluster, search) if cluster.has_points_in_time else _by_scroll(cluster, search)


def _by_points_in_time(cluster: Cluster, search: dict[str, Any]) -> Iterator[Hit]:
    client = cluster.client
    with told(cluster.name, "read"):
        point = client.create_pit(
            index=cluster.index, params={"keep_alive": KEPT, "allow_partial_pit_creation": "false"}
        )["pit_id"]
    try:
        rest: dict[str, Any] | None = search | {"pit": {"id": point, "keep_alive": KEPT}}
        while rest is not None:
            with told(cluster.name, "read"):
                some = client.search(body=rest, params=WHOLE)["hits"]["hits"]
            yield from some
            rest = following(rest, some)
    finally:
        with suppress(StoreError), told(cluster.name, "read"):  # it ends by itself, too
            client.delete_pit(body={"pit_id": [point]})


def _by_scroll(cluster: Cluster, search: dict[str, Any]) -> Iterator[Hit]:
    client = cluster.client
    # With a total, which a scroll must have.
    asked = search | {"track_total_hits": True}
    with told(cluster.name, "read"):
        answer = client.search(index=cluster.index, body=asked, params=WHOLE | {"scroll": KEPT})
    try:
        while some := answer["hits"]["hits"]:
            yield from some
            with told(cluster.name, "read"):
                answer = client.scroll(body={"scroll_id": answer["_scroll_id"], "scroll": KEPT})
            if answer["_shards"]["failed"]:
                raise StoreError(f"{cluster.name} cannot be read: a shard has stopped to answer; try again")
    finally:
        with suppress(StoreError), told(cluster.name, "read"):
            client.clear_scroll(body={"scroll_id": [answer["_scroll_id"]]})
