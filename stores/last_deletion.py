"""Marks each deletion in a store, so that a cache of answers notices that it may name deleted pages."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from opensearch_winnow.stores.store import Store

SETTING = "last-deletion"


def last_deletion(store: Store) -> str | None:
    """Return a mark that changes with every deletion of pages; None if none was ever deleted."""
    mark: str | None = store.settings.get(SETTING)
    return mark


def new_mark() -> dict[str, Any]:
    """Return the settings that a store writes after pages were deleted."""
    return {SETTING: uuid4().hex}
