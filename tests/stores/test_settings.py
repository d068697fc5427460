"""Settings, and those that decide what is written: recipes, and blocked pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.blocked_pages import change_blocked
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.last_deletion import last_deletion
from opensearch_winnow.stores.saved_recipe import recipe_for_run, save_recipe
from opensearch_winnow.stores.store import Store, StoreError
from tests.stores.conftest import Make


def test_the_first_recipe_is_kept_and_a_choice_wins(path: Path) -> None:
    with EmbeddedStore.open(path, Scheme.preset("passages"), create=True) as store:
        save_recipe(store, Recipe(scheme=store.scheme, extractor="beautifulsoup", alt=True))
        save_recipe(store, Recipe(scheme=store.scheme))
        kept = recipe_for_run(store, crawl="second", alt=None)
        assert (kept.scheme, kept.extractor, kept.alt, kept.crawl) == (store.scheme, "beautifulsoup", True, "second")
        assert not recipe_for_run(store, alt=False).alt


def test_a_store_that_cannot_be_written_says_so_before_any_work(as_anybody: Path) -> None:
    path = as_anybody / "a.winnow"
    EmbeddedStore.open(path, create=True).close()
    path.chmod(0o444)
    before = path.read_bytes()
    with EmbeddedStore.open(path) as store, pytest.raises(StoreError, match=r"a\.winnow cannot be written here"):
        save_recipe(store, Recipe())
    assert path.read_bytes() == before


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
