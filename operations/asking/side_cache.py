"""Keeps texts that are prepared for comparison, since several questions may have the same candidates."""

from __future__ import annotations

from typing import Protocol

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.lru_cache import LruCache
from opensearch_winnow.queries.compare import Side, side

MAX_CACHED_CHARS = 8_000_000  # of the texts of pages, which take about four times as much memory when prepared


class PageOfText(Protocol):
    """The page that has a text."""

    @property
    def id(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def site(self) -> str: ...
    @property
    def text_digest(self) -> str: ...


class SideCache:
    """The prepared texts of pages: those used last, up to `room` characters. Without room it keeps none."""

    def __init__(self, scheme: Scheme, room: int = MAX_CACHED_CHARS) -> None:
        self._scheme = scheme
        self._room = room
        self._sides: LruCache[Side] = LruCache(room)

    def get(self, page: PageOfText, text: str) -> Side:
        """Return the prepared text of a page."""
        if not self._room:
            return side(text, self._scheme, name=page.url, site=page.site)
        key = text, page.site, page.url if self._scheme.form == "code" else ""
        known = self._sides.get(key)
        if known is None:
            known = side(text, self._scheme, name=page.url, site=page.site)
            self._sides.put(key, known, len(text) + 1)
        return known
