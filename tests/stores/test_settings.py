"""Settings that are changed in one step, and those that decide what is written: on every kind of store."""

from __future__ import annotations

import pytest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.blocked_pages import change_blocked
from opensearch_winnow.stores.last_deletion import last_deletion
from opensearch_winnow.stores.store import Store
from tests.stores.conftest import Make


def test_settings(store: Store) -> None:
    assert store.settings.with_prefix() == {}
    value = {"a": [1, 2.5, None, True, "é\0\n"], "": {}}
    store.settings.set({"boilerplate": value})
    store.settings.set({"other": "x"})
    store.settings.set({"other": []})
    assert store.settings.with_prefix() == {"boilerplate": value, "other": []}
    assert (store.settings.with_prefix("oth"), store.settings.with_prefix("x")) == ({"other": []}, {})
    assert [store.settings.get(name) for name in ("boilerplate", "other", "oth")] == [value, [], None]
    store.settings.get("boilerplate")["a"] = "changed by a caller"
    assert store.settings.get("boilerplate") == value
    store.settings.set({"boilerplate": None})
    store.settings.set({"never there": None})
    assert store.settings.with_prefix() == {"other": []}
    assert store.settings.get("boilerplate") is None


@pytest.mark.check  # ten seconds on OpenSearch
def test_many_settings(store: Store) -> None:
    """More than an engine returns at once, and more than fit into one request."""
    many = {f"many:{number:05}": {"number": number, "text": "x" * 1_000} for number in range(10_500)}
    store.settings.set(many | {"other": 1})
    assert store.settings.names("many:") == sorted(many)
    assert (store.settings.names(), store.settings.names("none")) == ([*sorted(many), "other"], [])
    assert store.settings.with_prefix("many:") == many
    store.settings.set({"many:00001": None, "other": {"large": "y" * 5_000_000}, "never there": None, "new": []})
    assert store.settings.names() == [name for name in [*sorted(many), "new", "other"] if name != "many:00001"]
    assert len(store.settings.get("other")["large"]) == 5_000_000
    store.settings.set(dict.fromkeys(many))
    assert store.settings.names() == ["new", "other"]


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
    outcomes = [each.outcome for each in store.write([record(number) for number in (1, 2, 3, 3, 4)])]
    assert outcomes == ["replaced", "blocked", "blocked", "blocked", "added"]
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
