"""Bulk writes to a real engine, through a proxy that makes requests fail."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.bulk import THREAD_NAME, bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation
from opensearch_winnow.stores.store import StoreError, WriteOutcome
from tests.stores.opensearch.faulty_proxy import FAULTS, Fault, FaultyProxy, share

PAUSES: dict[str, Any] = {"retry_pause": 0.01, "max_retry_pause": 0.05}
QUICK = BulkLimits(count=20, requests=4, request_timeout=1.0, give_up_after=30.0, **PAUSES)


@pytest.fixture
def alias(client: OpenSearch, own_name: str) -> Iterator[str]:
    settings = {"number_of_shards": 2, "number_of_replicas": 0}
    mapping = {"dynamic": "strict", "properties": {"n": {"type": "integer"}, "text": {"type": "text"}}}
    body = {"settings": settings, "aliases": {own_name: {}}, "mappings": mapping}
    client.indices.create(index=f"{own_name}-1", body=body)
    yield own_name
    client.indices.delete(index=f"{own_name}-*", ignore_unavailable=True)


def write(url: str, operations: list[Operation], limits: BulkLimits = QUICK) -> list[WriteOutcome]:
    with OpenSearch(url) as client:
        return list(bulk(client, operations, limits=limits))


def pages(alias: str, number: int) -> list[Operation]:
    return [Operation("index", alias, f"page {each}", {"n": each}) for each in range(number)]


def documents(client: OpenSearch, alias: str) -> dict[str, Any]:
    client.indices.refresh(index=alias)
    found = client.search(index=alias, body={"size": 10_000, "track_total_hits": True})["hits"]
    assert found["total"]["value"] == len(found["hits"])
    return {hit["_id"]: hit["_source"].get("n") for hit in found["hits"]}


@pytest.mark.check
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_written_twice(engine: Running, client: OpenSearch, alias: str, seed: int) -> None:
    """30 % of the requests fail, in every possible way."""
    operations = pages(alias, 2_000)
    with FaultyProxy(engine.url, share(0.3), seed=seed) as proxy:
        written = write(proxy.url, operations)
        assert sum(proxy.spoiled.values()) > 0.2 * proxy.requests
        assert set(proxy.spoiled) == set(FAULTS)
    assert written == [WriteOutcome(each.id, "added") for each in operations]
    assert documents(client, alias) == {each.id: each.source and each.source["n"] for each in operations}


def test_the_outcomes_of_a_mixed_lot(client: OpenSearch, engine: Running, alias: str) -> None:
    cases: list[tuple[Operation, str, str]] = [
        *((each, "added", "") for each in pages(alias, 45)),
        (Operation("index", alias, "page 3", {"n": 30}), "replaced", ""),
        (Operation("update", alias, "page 3", {"text": "three"}), "replaced", ""),
        (Operation("update", alias, "nowhere", {"n": 0}), "failed", "it does not exist"),
        (Operation("delete", alias, "page 4"), "replaced", ""),
        (Operation("delete", alias, "page 4"), "failed", "it does not exist"),
        (Operation("create", alias, "page 5", {"n": 0}), "failed", "another process changed it at the same time"),
        (Operation("create", alias, "page 4", {"n": 44}), "added", ""),
        (Operation("index", alias, "wrong type", {"n": "many"}), "failed", "a value does not fit the field n"),
        (Operation("index", alias, "wrong field", {"m": 1}), "failed", "the index has no field m"),
        (Operation("index", alias, "x" * 513, {"n": 1}), "failed", "an id is longer than the engine accepts"),
        (Operation("index", alias, "the last", {"n": 7}), "added", ""),
    ]
    written = write(engine.url, [operation for operation, _, _ in cases])
    for found, (operation, outcome, reason) in zip(written, cases, strict=True):
        assert (found.id, found.outcome, found.reason[: len(reason)]) == (operation.id, outcome, reason)
        assert bool(found.reason) == bool(reason)
    expected = {f"page {each}": each for each in range(45)} | {"page 3": 30, "page 4": 44, "the last": 7}
    assert documents(client, alias) == expected


def test_a_deleted_index_is_not_created_again(client: OpenSearch, engine: Running, alias: str) -> None:
    client.indices.delete(index=f"{alias}-1")
    with pytest.raises(StoreError, match=r"there is no store of this name.*0 of 3 documents are written"):
        write(engine.url, pages(alias, 3))
    assert not client.indices.exists(index=alias)


@pytest.mark.parametrize(
    ("block", "reason"),
    [("read_only_allow_delete", "the disk of a node is nearly full"), ("read_only", "the index is read-only")],
)
def test_a_permanent_block_is_reported_at_once(
    client: OpenSearch, engine: Running, alias: str, block: str, reason: str
) -> None:
    client.indices.put_settings(index=alias, body={f"index.blocks.{block}": True})
    with FaultyProxy(engine.url, lambda *_: None) as proxy:
        with pytest.raises(StoreError, match=reason):
            write(proxy.url, pages(alias, 3), BulkLimits())
        assert proxy.requests == 1
    client.indices.put_settings(index=alias, body={f"index.blocks.{block}": None})


def test_a_temporary_block_is_waited_for(client: OpenSearch, engine: Running, alias: str) -> None:
    """An index closed to writes, as at the end of a migration."""
    client.indices.put_settings(index=alias, body={"index.blocks.write": True})

    def choose(number: int, *_: object) -> None:
        if number == 3:
            client.indices.put_settings(index=alias, body={"index.blocks.write": None})

    with FaultyProxy(engine.url, choose) as proxy:
        assert [each.outcome for each in write(proxy.url, pages(alias, 3))] == ["added"] * 3
        assert proxy.requests == 4


def test_an_engine_that_does_not_answer_is_reported(engine: Running, alias: str) -> None:
    with FaultyProxy(engine.url, lambda number, _: "reset before" if number else None) as proxy:
        impatient = BulkLimits(count=2, requests=1, give_up_after=0.3, **PAUSES)
        with pytest.raises(StoreError, match=r"the connection breaks \(2 of 6 documents are written for sure"):
            write(proxy.url, pages(alias, 100), impatient)
    with pytest.raises(StoreError, match="the connection is refused"):
        write(proxy.url, pages(alias, 100), impatient)


def test_no_more_is_read_than_there_is_room_for(engine: Running, client: OpenSearch, alias: str) -> None:
    """An endless source is read no further when the engine accepts nothing, or when the caller stops."""
    read = 0

    def endless() -> Iterator[Operation]:
        nonlocal read
        for read in count(1):
            yield Operation("index", alias, str(read), {"n": read})

    limits = BulkLimits(count=10, requests=2, give_up_after=0.3, **PAUSES)
    with (
        FaultyProxy(engine.url, lambda number, _: "unavailable" if number > 4 else None) as proxy,
        OpenSearch(proxy.url) as through,
        pytest.raises(StoreError, match="has no manager"),
    ):
        list(bulk(through, endless(), limits=limits))
    assert 50 < read <= 50 + 30
    read = 0
    outcomes = bulk(client, endless(), limits=limits)
    assert [each.id for each in islice(outcomes, 25)] == [str(number) for number in range(1, 26)]
    outcomes.close()  # type: ignore[attr-defined]
    assert read <= 25 + 10 + 30


@pytest.mark.check
@pytest.mark.xdist_group("nodes")
def test_a_killed_node_loses_no_document(start_engine: Callable[..., Running]) -> None:
    """One of three nodes, which holds primaries, is killed: all documents are written all the same."""
    engine, victim = start_engine(nodes=3), "node-2"

    def operations() -> Iterator[Operation]:
        for number in range(6_000):
            if number == 2_000:
                os.kill(engine.pids[victim], signal.SIGKILL)
            yield Operation("index", "pages", str(number), {"n": number, "text": "as good as any other " * 20})

    settings = {"number_of_shards": 3, "number_of_replicas": 1}
    with OpenSearch(list(engine.urls.values()), timeout=60, dead_timeout=1) as client:
        body = {"settings": settings, "aliases": {"pages": {}}}
        client.indices.create(index="pages-000001", body=body, wait_for_active_shards="all")
        shards = client.cat.shards(index="pages", format="json", h="node,prirep")
        assert {"node": victim, "prirep": "p"} in shards
        written = list(bulk(client, operations(), limits=BulkLimits(count=100, give_up_after=60.0)))
        assert [each.id for each in written] == [str(number) for number in range(6_000)]
        # Not always "added": another node may have repeated a write that the dead node had begun.
        assert "failed" not in {each.outcome for each in written}
        assert victim not in {node.name for node in engine.alive}
        client.indices.refresh(index="pages")
        assert client.count(index="pages")["count"] == 6_000


@pytest.mark.check
def test_an_interruption_does_not_wait_for_an_answer(engine: Running, alias: str) -> None:
    timer = threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))

    def choose(*_: object) -> Fault:
        timer.start()
        return "timeout after"

    with FaultyProxy(engine.url, choose) as proxy, OpenSearch(proxy.url) as client:
        with pytest.raises(KeyboardInterrupt):
            list(bulk(client, pages(alias, 3), limits=BulkLimits(request_timeout=30)))
        (in_flight,) = (thread for thread in threading.enumerate() if thread.name == THREAD_NAME)
    in_flight.join()
