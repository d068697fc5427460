"""Saves the recipe of a store's first run in the store, as the default of later runs."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.store import Store

SETTING = "recipe"
RECIPE_FIELDS = ("extractor", "alt", "title", "text")


def recipe_for_run(store: Store | None, **chosen: Any) -> Recipe:
    """Return the recipe of the store's first run, or the default recipe, changed by every `chosen` that is not None."""
    kept = (store.setting(SETTING) or {}) if store else {}
    choices = {name: kept[name] for name in RECIPE_FIELDS if name in kept}
    choices |= {name: value for name, value in chosen.items() if value is not None}
    return Recipe(**choices | ({"scheme": store.scheme} if store else {}))


def save_recipe(store: Store, recipe: Recipe) -> None:
    """Save `recipe` in the store if it is the first. A store that cannot be written raises here, before any work."""
    store.write([])
    first = store.setting(SETTING) or {name: getattr(recipe, name) for name in RECIPE_FIELDS}
    store.set_setting(SETTING, first)
