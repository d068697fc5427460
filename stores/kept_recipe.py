"""How pages become the records of a store: kept in it, so that those of the next run are made in the same way."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.store import Store

SETTING = "recipe"
RECIPE_FIELDS = ("extractor", "alt", "title", "text")


def kept_recipe(store: Store | None, **chosen: Any) -> Recipe:
    """The recipe of the store's first run, or the usual one if there is none, but for what is chosen and not None."""
    kept = (store.setting(SETTING) or {}) if store else {}
    choices = {name: kept[name] for name in RECIPE_FIELDS if name in kept}
    choices |= {name: value for name, value in chosen.items() if value is not None}
    return Recipe(**choices | ({"scheme": store.scheme} if store else {}))


def keep_recipe(store: Store, recipe: Recipe) -> None:
    """Keep it, if it is the first. A store that cannot be written says so here, before any work is done."""
    first = store.setting(SETTING) or {name: getattr(recipe, name) for name in RECIPE_FIELDS}
    store.set_setting(SETTING, first)
