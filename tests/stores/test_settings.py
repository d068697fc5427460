"""Settings that are changed in one step, and those that decide what is written: on every kind of store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.blocked_pages import change_blocked
from opensearch_winnow.stores.last_deletion import last_deletion
from opensearch_winnow.stores.store import Store

Make = Callable[..., Record]


def test_a_setting_is_changed_in_one_step(store: Store) -> None:
    store.settings.change("list", lambda kept: kept)  # there is none, and stays none
    assert store.settings.get("list") is None
    for _ in range(3):
        store.settings.change("list", lambda kept: [*(kept or ()), "abc"[len(kept or ())]])
    assert store.settings.get("list") == ["a", "b", "c"]
    with pytest.raises(ZeroDivisionError):
        store.settings.change("list", lambda _: 1 / 0)
    assert store.settings.get("list") == ["a", "b", "c"]
    store.settings.change("list", lambda _: None)
    assert store.settings.names() == []


def test_blocked_pages_are_not_written(store: Store, record: Make) -> None:
    store.write([record(1), record(2)])
    change_blocked(store, add=[record(2).url, record(3).url])
    assert [each.outcome for each in store.write([record(1), record(2), record(3), record(3), record(4)])] == [
        *("replaced", "blocked", "blocked", "blocked", "added"),
    ]
    assert store.read([record(3).id], Card) == {}
    assert [each.outcome for each in store.write([record(3)])] == ["blocked"]


def test_each_deletion_leaves_another_mark(store: Store, record: Make) -> None:
    store.write([record(1), record(2)])
    assert last_deletion(store) is None
    assert store.delete(["0" * 32]) == 0
    assert last_deletion(store) is None
    marks = set()
    for number in (1, 2):
        store.delete([record(number).id])
        marks.add(last_deletion(store))
    assert len(marks - {None}) == 2
