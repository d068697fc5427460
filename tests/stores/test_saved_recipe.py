"""A store keeps the recipe of its first indexing run."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.saved_recipe import recipe_for_run, save_recipe
from opensearch_winnow.stores.store import StoreError


def test_the_first_recipe_is_kept_and_a_choice_wins(tmp_path: Path) -> None:
    with EmbeddedStore.open(tmp_path / "a.winnow", Scheme.preset("passages"), create=True) as store:
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
