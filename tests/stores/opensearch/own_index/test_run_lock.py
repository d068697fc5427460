"""Runs that add winnow's fields and runs that take them away never work at the same time, whatever dies or pauses."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.own_index import run_lock
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from opensearch_winnow.stores.opensearch.own_index.run_lock import EXPIRY_SECONDS, LOCK, RunLock
from opensearch_winnow.stores.store import StoreError
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, opened

Step = Literal["attach", "detach", "end", "kill", "pause", "resume", "wait long"]
OFTEN: tuple[Step, ...] = ("attach", "detach", "pause")
STEPS: tuple[Step, ...] = (*OFTEN, "resume", "wait long", *OFTEN, "end", "kill")


class Machines:
    """Runs on machines that share a setting and a clock, and of which some die or sleep."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.setting = "null"  # as it is in an engine, without one
        self.beating: list[RunLock] = []
        self.paused: list[RunLock] = []
        self.index = Mock(index_name="articles", settings_index="winnow.articles.settings")

    def change(self, _: str, change: Callable[[Any], Any]) -> None:
        self.setting = json.dumps(change(json.loads(self.setting)))

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for run in self.beating:
            run._beat()

    def start(self, command: Step) -> None:
        run = RunLock(self.index, command, alone=command == "detach")
        run._settings = self  # type: ignore[assignment]
        run._missing = lambda: ""  # type: ignore[method-assign]
        run._thread = Mock()  # `sleep` beats
        try:
            self.beating.append(run.__enter__())
        except StoreError:
            assert self.working()  # the one that refuses is alive

    def working(self) -> list[RunLock]:
        """Return the runs that may write now, by their own judgement."""
        found = []
        for run in (*self.beating, *self.paused):
            with suppress(StoreError):
                run.check()
                found.append(run)
        return found

    def take(self, step: Step) -> None:
        match step:
            case "attach" | "detach":
                self.start(step)
            case "end" if self.beating:
                self.beating.pop().__exit__()
            case "kill" if self.beating:
                self.beating.pop()
            case "pause" if self.beating:
                self.paused.append(self.beating.pop())
            case "resume" if self.paused:
                self.beating.append(self.paused.pop())
            case "wait long":
                for _ in range(3):
                    self.sleep(EXPIRY_SECONDS / 3)


@given(st.lists(st.sampled_from(STEPS), min_size=8, max_size=16))
def test_who_detaches_works_alone_whoever_dies_or_pauses(steps: list[Step]) -> None:
    machines = Machines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_lock, "time", machines)
        patch.setattr(run_lock, "check", lambda *_: "there")
        patch.setattr(run_lock, "POLL_SECONDS", 3.0)
        for step in steps:
            machines.take(step)
            working = machines.working()
            assert len(working) <= 1 or not any(run._entry["alone"] for run in working)
        # Nobody has to clean up by hand: when all others have ended or died, the next one gets the lock.
        for run in machines.beating:
            run.__exit__()
        machines.beating.clear()
        machines.start("detach")
        assert len(machines.beating) == 1


@pytest.mark.parametrize(("pid", "machine"), [(2**22 + 1, None), (1, "another machine")])
def test_a_run_counts_as_dead_at_once_only_if_its_process_was_on_this_machine(pid: int, machine: str | None) -> None:
    entry = {"pid": pid, "machine": run_lock._machine() if machine is None else machine}
    assert run_lock._has_ended(entry) == (machine is None and bool(run_lock._machine()))


# --- on an engine -----------------------------------------------------------------------------------------------------


@pytest.fixture
def many(own: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> OwnIndex:
    """An index with enough documents for a slow run, and locks that beat ten times a second."""
    monkeypatch.setattr(run_lock, "BEAT_SECONDS", 0.1)
    own.create(shards=1)
    own.write((str(number), {"body": f"Article {number}."}) for number in range(60))
    return own


def once(action: Callable[[], object]) -> Callable[..., None]:
    """Return a function for `progress` that acts once the run has begun to write."""
    waiting = [action]

    def progress(phase: str, done: int, _: int | None) -> None:
        if waiting and done and phase in ("fingerprinting documents", "removing fields"):
            waiting.pop()()

    return progress


def entries(own: OwnIndex) -> list[dict[str, Any]]:
    source = own.client.get(index=f"winnow.{own.name}.settings", id=LOCK)["_source"]
    return list(json.loads(source["value"]).values())


def refusal(use: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        use()
    return str(caught.value)


def with_fields(own: OwnIndex) -> int:
    return sum("winnow" in source for source in own.sources().values())


@pytest.mark.check
def test_detach_refuses_while_fields_are_added(many: OwnIndex) -> None:
    refused: list[str] = []
    trying = once(lambda: refused.append(refusal(many.detach)))
    report = many.attach(FIELDS, per_second=40, progress=trying)
    assert (report.done, with_fields(many)) == (60, 60)
    assert f"cannot be detached: winnow attach of {many.name} (process" in refused[0]
    with OpenSearchStore.open(str(many.address)) as store, store.clustering():
        assert f"winnow cluster of {many.name}" in refusal(many.detach)
        many.attach()  # whoever adds fields disturbs nobody
    assert many.detach().documents == 60


@pytest.mark.check
def test_attach_refuses_while_fields_are_removed(many: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    many.attach(FIELDS)
    monkeypatch.setattr("opensearch_winnow.stores.opensearch.own_index.traces.DOCUMENTS_AT_A_TIME", 20)
    refused: list[str] = []

    def try_to_attach() -> None:
        refused.extend((refusal(many.attach), refusal(lambda: many.attach(FIELDS))))
        assert [entry["command"] for entry in entries(many)] == ["detach"]

    assert detach(many.client, many.address, once(try_to_attach)).documents == 60
    assert "is not attached, or not any more" in refused[0]
    assert f"cannot be attached: winnow detach of {many.name} (process" in refused[1]
    assert (with_fields(many), many.has_settings()) == (0, False)


@pytest.mark.check
@pytest.mark.parametrize(
    ("lost", "why"), [("the lock", "gave no sign of life"), ("the mark", "winnow was detached from it meanwhile")]
)
def test_a_run_that_was_detached_writes_no_more(many: OwnIndex, lost: str, why: str) -> None:
    def take_away() -> None:
        if lost == "the lock":
            many.client.delete(index=f"winnow.{many.name}.settings", id=LOCK)
        else:
            many.client.indices.put_mapping(index=many.name, body={"_meta": {}})

    with pytest.raises(StoreError, match=f"cannot be attached further: .*{why}"):
        many.attach(FIELDS, per_second=20, progress=once(take_away))
    many.client.indices.refresh(index=many.name)
    written = with_fields(many)
    assert 0 < written < 60
    assert many.detach().documents == written
    assert (with_fields(many), many.has_settings()) == (0, False)


@pytest.mark.check
def test_an_index_that_is_deleted_meanwhile_leaves_no_settings(many: OwnIndex) -> None:
    """An engine creates an index again for a write that comes too late: such an empty one is not attached."""
    deleting = once(lambda: many.client.indices.delete(index=many.name))
    with pytest.raises(StoreError, match=r"it was deleted meanwhile|it is a new index of this name"):
        many.attach(FIELDS, per_second=20, progress=deleting)
    assert not many.has_settings()


@pytest.mark.check
def test_an_index_that_cannot_be_attached_gets_no_settings(own: OwnIndex) -> None:
    own.create(shards=1)
    own.client.indices.put_settings(index=own.name, body={"index.mapping.total_fields.limit": 6})
    with pytest.raises(StoreError, match="cannot be given winnow's fields: Limit of total fields"):
        own.attach(FIELDS)
    assert not own.has_settings()


@pytest.mark.check
def test_a_run_that_died_on_another_machine_expires(many: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    many.attach(FIELDS)
    monkeypatch.setattr(run_lock, "EXPIRY_SECONDS", 1.0)
    with opened(many) as index:
        dead = RunLock(index.store._index, "attach")  # type: ignore[attr-defined]
        dead._entry |= {"machine": "another machine", "pid": 1, "host": "elsewhere"}
        dead._thread = Mock()
        dead.__enter__()
        assert [entry["host"] for entry in entries(many)] == ["elsewhere"]
        phases: list[str] = []
        assert detach(many.client, many.address, lambda phase, *_: phases.append(phase)).documents == 60
        assert f"checking whether winnow attach of {many.name} (process 1 on elsewhere) still runs" in phases
