"""Saves the recipe of a store's first run in the store, as the default of later runs, and the epoch of a rotation."""

from __future__ import annotations

from typing import Any, NamedTuple

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.store import Store

SETTING = "recipe"
RECIPE_FIELDS = ("extractor", "alt", "title", "text")
ROTATION_SETTING = "rotation"


class RotationState(NamedTuple):
    """The epoch of new pages' fingerprints; `finished` if all other pages have been rotated to it."""

    epoch: int = 0
    finished: bool = True

    @classmethod
    def of(cls, store: Store) -> RotationState:
        return cls(**store.settings.get(ROTATION_SETTING) or {})

    def save(self, store: Store) -> None:
        store.settings.set({ROTATION_SETTING: self._asdict()})


def recipe_for_run(store: Store | None, **chosen: Any) -> Recipe:
    """Return the recipe of the store's first run, or the default recipe, changed by every `chosen` that is not None."""
    kept = (store.settings.get(SETTING) or {}) if store else {}
    choices = {name: kept[name] for name in RECIPE_FIELDS if name in kept}
    choices |= {name: value for name, value in chosen.items() if value is not None}
    if store is not None:
        choices["scheme"] = store.scheme
        if store.scheme.stores_part:
            choices["epoch"] = RotationState.of(store).epoch
    return Recipe(**choices)


def save_recipe(store: Store, recipe: Recipe) -> None:
    """Save `recipe` in the store if it is the first. A store that cannot be written raises here, before any work."""
    store.write([])
    first = store.settings.get(SETTING) or {name: getattr(recipe, name) for name in RECIPE_FIELDS}
    store.settings.set({SETTING: first})
