"""Keeps views open between requests, so that a cursor can fetch their next pages."""

from __future__ import annotations

import time
from secrets import token_urlsafe
from threading import Lock
from typing import Generic, TypeVar

from opensearch_winnow.queries.searching.cursor_text import CURSOR_EXPIRED
from opensearch_winnow.stores.store import StoreError, View

MAX_IDLE_MINUTES = 5  # between two uses of a view
MAX_VIEWS = 16  # while a view is open, SQLite cannot shrink the log of its file

AnyView = TypeVar("AnyView", bound=View)


class ViewCache(Generic[AnyView]):
    """Open views by key. If there are too many, the least recently used one is closed."""

    def __init__(self) -> None:
        self._views: dict[str, tuple[float, AnyView]] = {}  # with the time of the last use, the oldest first
        self._lock = Lock()

    def keep(self, view: AnyView) -> str:
        """Keep a view open, and return the key to get it by."""
        key = token_urlsafe(12)
        with self._lock:
            self._close_old(MAX_VIEWS - 1)
            self._views[key] = time.monotonic(), view
        return key

    def get(self, key: str, name: str) -> AnyView:
        """Return the view with this key. If it was closed, raise a StoreError about the store `name`."""
        with self._lock:
            self._close_old(MAX_VIEWS)
            if key not in self._views:
                raise StoreError(
                    f"{name}: {CURSOR_EXPIRED}; a cursor works in the process that made it, for {MAX_IDLE_MINUTES}"
                    " minutes after each use"
                )
            _, view = self._views.pop(key)
            self._views[key] = time.monotonic(), view
            return view

    def close(self) -> None:
        with self._lock:
            self._close_old(0)

    def _close_old(self, max_views: int) -> None:
        """Close the views that were not used recently, and as many of the oldest as exceed `max_views`."""
        for key, (used, view) in list(self._views.items()):
            if len(self._views) > max_views or time.monotonic() - used > 60 * MAX_IDLE_MINUTES:
                del self._views[key]
                view.close()
