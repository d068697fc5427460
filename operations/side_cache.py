"""Keeps texts that are prepared for comparison, since several questions may have the same candidates."""

from __future__ import annotations

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.lru_cache import LruCache
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import Side, side


class SideCache:
    """The prepared texts of pages: those used last, up to `room` characters. Without room it keeps none."""

    def __init__(self, scheme: Scheme, room: int = 0) -> None:
        self._scheme = scheme
        self._room = room
        self._sides: LruCache[Side] = LruCache(room)

    def get(self, card: Card, text: str) -> Side:
        """Return the prepared text of a page."""
        if not self._room:
            return side(text, self._scheme, name=card.url, site=card.site)
        key = text, card.site, card.url if self._scheme.form == "code" else ""
        known = self._sides.get(key)
        if known is None:
            known = side(text, self._scheme, name=card.url, site=card.site)
            self._sides.put(key, known, len(text) + 1)
        return known
