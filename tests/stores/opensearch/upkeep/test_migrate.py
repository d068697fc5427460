"""Migrations lose and duplicate nothing, and readers and writers do not notice them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Event, Thread

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Scheme, StoreError
from opensearch_winnow.mappings.opensearch_mapping import analysis
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.upkeep import migrate as migrate_module, reindex
from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

pytestmark = pytest.mark.check

MakeRecord = Callable[..., Record]
ANALYSIS = {"analysis": analysis()}


@pytest.fixture
def name(client: OpenSearch, own_name: str) -> str:
    """The name of an empty store with three shards."""
    set_up(client, own_name, Scheme(), shards=3)
    return own_name


@pytest.fixture
def store(engine: Running, name: str) -> Iterator[OpenSearchStore]:
    with OpenSearchStore.open(f"{engine.url}/{name}") as made:
        yield made


def index_of(client: OpenSearch, name: str) -> str:
    (index,) = client.indices.get_alias(name=name)
    return str(index)


def is_closed(client: OpenSearch, index: str) -> bool:
    blocks = client.indices.get_settings(index=index)[index]["settings"]["index"].get("blocks", {})
    return bool(blocks.get("write") == "true")


def stored(store: OpenSearchStore) -> dict[str, Record]:
    scanned = list(store.scan(Record))
    found = {each.id: each for each in scanned}
    assert len(found) == len(scanned)
    return found


def indices_of(client: OpenSearch, name: str) -> list[str]:
    return list(client.indices.get(index=f"{name}-*"))


def test_reads_and_writes_continue_during_a_migration(
    client: OpenSearch, name: str, store: OpenSearchStore, record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate_module, "MAX_WRITES_BEFORE_LAST_ROUND", 10)
    monkeypatch.setattr(migrate_module, "MAX_ROUNDS", 5)
    expected = {each.id: each for each in map(record, range(300))}
    store.write(list(expected.values()))
    never_changed = [record(number).id for number in range(50)]
    stop, wrote, failures = Event(), Event(), []

    def write(own: OpenSearchStore) -> None:
        for turn in range(10_000):
            if stop.is_set():
                return
            added = [record(number) for number in range(1_000 + turn * 8, 1_008 + turn * 8)]
            changed = [record(number, title=f"Turn {turn}") for number in range(50 + turn % 40, 60 + turn % 40)]
            assert {each.outcome for each in own.write([*added, *changed])} <= {"added", "replaced"}
            gone = [added[0].id, record(100 + turn % 200).id]
            own.delete(gone)
            expected.update((each.id, each) for each in (*added, *changed))
            for id_ in gone:
                expected.pop(id_, None)
            wrote.set()

    def read(own: OpenSearchStore) -> None:
        while not stop.wait(0.02):  # a pause, so that the machine does something else, too
            found = client.search(index=name, body={"query": {"ids": {"values": never_changed}}, "size": 50})
            assert len(found["hits"]["hits"]) == 50
            assert len(own.read(never_changed, Record)) == 50

    def watched(work: Callable[[OpenSearchStore], None]) -> None:
        try:
            with OpenSearchStore.open(store.name) as own:
                work(own)
        except BaseException as error:
            failures.append(error)
            wrote.set()

    seen: set[str] = set()

    def progress(step: str, share: float | None) -> None:
        """Wait for a write in every round but the last, for which writers wait."""
        assert share is None or 0 <= share <= 1
        if step not in seen and not is_closed(client, f"{name}-000001"):
            wrote.clear()
            assert wrote.wait(30)
        seen.add(step)

    threads = [Thread(target=watched, args=[work]) for work in (write, read)]
    for thread in threads:
        thread.start()
    try:
        outcome = migrate(client, name, shards=2, progress=progress)
        wrote.clear()
        assert wrote.wait(60)  # and after it
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert index_of(client, name) == outcome.new == f"{name}-000002"
    assert outcome.rounds > 1
    assert is_closed(client, outcome.old)
    assert stored(store) == expected


def test_changes_during_a_migration_reach_the_new_index(
    client: OpenSearch, name: str, store: OpenSearchStore, record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindex, "MAX_IDS_TO_COMPARE", 4)
    monkeypatch.setattr(reindex, "BATCH_SIZE", 7)
    before = [record(number) for number in range(60)]
    changed, deleted = record(5, title="changed"), [before[number].id for number in (0, 31, 32, 33, 59)]
    again = record(32, title="there again")
    store.write(before)

    def progress(step: str, share: float | None) -> None:
        if "round 1" in step and share == 1 and store.count() == 60:  # all is copied, but the round is not over
            store.write([changed, record(100)])
            store.delete(deleted)
            store.write([again])

    outcome = migrate(client, name, progress=progress)
    expected = {each.id: each for each in [*before, changed, record(100)] if each.id not in deleted}
    expected[again.id] = again
    assert stored(store) == expected
    assert outcome.pages == len(expected) == 57


PROGRAM = """
import time
from opensearchpy import OpenSearch
from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate

def progress(step, share):
    if {moment!r} in step:
        print("here", flush=True)
        time.sleep(600)

migrate(OpenSearch({url!r}), {name!r}, progress=progress)
"""


@pytest.mark.parametrize("moment", ["round 1", "round 2"])
def test_a_migration_that_was_killed_is_started_again(
    engine: Running, client: OpenSearch, name: str, store: OpenSearchStore, record: MakeRecord, moment: str
) -> None:
    store.write([record(number) for number in range(20)])
    program = PROGRAM.format(moment=moment, url=engine.url, name=name)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        if moment == "round 2":
            # The first round must leave something to copy for the second.
            store.write([record(50)])
        assert killed.stdout.readline() == b"here\n"
        killed.send_signal(signal.SIGKILL)
    assert index_of(client, name) == f"{name}-000001"
    assert client.indices.exists(index=f"{name}-000002")
    assert is_closed(client, f"{name}-000001") == (moment == "round 2")
    before = stored(store)
    outcome = migrate(client, name)
    assert store.write([record(60)])[0].outcome == "added"
    assert outcome.new == index_of(client, name)
    assert not client.indices.exists(index=f"{name}-000002")
    assert stored(store) == before | {record(60).id: record(60)}


def test_an_index_of_somebody_else_is_left_alone(client: OpenSearch, name: str) -> None:
    """An index of other software stays, although it has the name that the next index would have."""
    client.indices.create(index=f"{name}-other", body={"aliases": {f"{name}-alias": {}}})
    with pytest.raises(StoreError, match=f"{name}-other is an index, but not a store of winnow"):
        migrate(client, f"{name}-alias")
    with pytest.raises(StoreError, match="nothing cannot be migrated: there is no "):
        migrate(client, f"{name}-nothing")
    client.indices.create(index=f"{name}-000002")  # it has our mapping, because of the template
    outcome = migrate(client, name)
    assert outcome.new == index_of(client, name) == f"{name}-000003"
    assert client.indices.exists(index=f"{name}-000002")
    about = client.indices.get_mapping(index=name)[outcome.new]["mappings"]
    assert list(about["_meta"]) == ["winnow"]  # but no sign of a migration


def test_ctrl_c_leaves_the_store_as_it_was(
    client: OpenSearch, name: str, store: OpenSearchStore, record: MakeRecord
) -> None:
    store.write([record(1)])

    def progress(step: str, share: float | None) -> None:  # noqa: ARG001
        if "round 2" in step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(client, name, progress=progress)
    assert indices_of(client, name) == [f"{name}-000001"]
    assert store.write([record(2)])[0].outcome == "added"
    assert len(stored(store)) == 2


def test_a_page_that_the_new_mapping_refuses_stops_it(client: OpenSearch, name: str) -> None:
    index = f"{name}-000001"
    written = client.indices.get_mapping(index=index)[index]["mappings"]
    client.indices.delete(index=index)
    written["properties"]["arrival"] = {"type": "keyword"}
    client.indices.create(index=index, body={"mappings": written, "aliases": {name: {}}, "settings": ANALYSIS})
    client.index(index=name, id="1", body={"arrival": "first"}, params={"refresh": "true", "pipeline": "_none"})
    with pytest.raises(StoreError, match=f"{index} cannot be copied .* field arrival of the index, .* type long"):
        migrate(client, name)
    assert indices_of(client, name) == [index]
    assert not is_closed(client, index)


def test_an_index_without_an_alias_gives_its_name_away_when_it_is_deleted(
    engine: Running, client: OpenSearch, name: str, record: MakeRecord
) -> None:
    by_somebody = f"{name}-by-somebody"
    written = client.indices.get_mapping(index=name)[f"{name}-000001"]["mappings"]
    client.indices.create(index=by_somebody, body={"mappings": written, "settings": ANALYSIS})
    client.indices.create(index=f"{by_somebody}.settings")
    with OpenSearchStore.open(f"{engine.url}/{by_somebody}") as store:
        store.write([record(1)])
        with pytest.raises(StoreError, match=r"is an index, not an alias.*--delete-old"):
            migrate(client, by_somebody)
        assert migrate(client, by_somebody, delete_old=True).new == f"{by_somebody}-000001"
    assert index_of(client, by_somebody) == f"{by_somebody}-000001"
    with OpenSearchStore.open(f"{engine.url}/{by_somebody}") as store:
        assert list(stored(store)) == [record(1).id]


def test_aliases_fields_and_replicas_of_others_are_kept(
    client: OpenSearch, name: str, store: OpenSearchStore, record: MakeRecord
) -> None:
    old = f"{name}-000001"
    client.indices.put_mapping(index=old, body={"properties": {"score": {"type": "float"}}})
    client.indices.put_alias(index=old, name=f"{name}-test", body={"filter": {"term": {"crawl": "test"}}})
    client.indices.put_settings(index=old, body={"auto_expand_replicas": False, "number_of_replicas": 2})
    store.write([record(1), record(2, crawl="other")])
    client.update(index=name, id=record(1).id, body={"doc": {"score": 0.5}})
    outcome = migrate(client, name, delete_old=True)
    settings = client.indices.get_settings(index=name)[outcome.new]["settings"]["index"]
    assert (settings["number_of_shards"], settings["number_of_replicas"]) == ("3", "2")
    assert "refresh_interval" not in settings
    assert client.count(index=f"{name}-test")["count"] == 1
    assert client.get(index=name, id=record(1).id)["_source"]["score"] == 0.5
    assert not client.indices.exists(index=old)
