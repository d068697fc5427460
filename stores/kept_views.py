"""Views that a process keeps for those who come back for the next part."""

from __future__ import annotations

import time
from secrets import token_urlsafe
from typing import Generic, TypeVar

from opensearch_winnow.stores.store import StoreError, View

MINUTES = 5  # that a view is kept from one question to the next
MOST = 16  # views at a time: a file cannot shrink its log while somebody looks at an old state of it
ENDED = "the cursor has ended: search again"

Kept = TypeVar("Kept", bound=View)


class KeptViews(Generic[Kept]):
    """By key. The one that nobody has asked for longest ends when there are too many."""

    def __init__(self) -> None:
        self._views: dict[str, tuple[float, Kept]] = {}

    def keep(self, view: Kept) -> str:
        self._end_old(MOST - 1)
        key = token_urlsafe(12)
        self._views[key] = time.monotonic(), view
        return key

    def get(self, key: str, name: str) -> Kept:
        """The view; a StoreError that names the store if it is not there any more."""
        self._end_old(MOST)
        if key not in self._views:
            raise StoreError(f"{name}: {ENDED}; a view is kept by its process, for {MINUTES} minutes after each use")
        _, view = self._views.pop(key)
        self._views[key] = time.monotonic(), view
        return view

    def close(self) -> None:
        self._end_old(0)

    def _end_old(self, most: int) -> None:
        """In the order of their last use."""
        for key, (used, view) in list(self._views.items()):
            if len(self._views) > most or time.monotonic() - used > 60 * MINUTES:
                del self._views[key]
                view.close()
