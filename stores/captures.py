"""Looks up the captures of URLs in any store."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import MAX_URLS, Selection
from opensearch_winnow.stores.store import Store


def captures(store: Store, url: str, *, until: datetime | None = None, limit: int | None = None) -> list[Card]:
    """Return the captures of a URL, newest first; with `until`, those known to be no later."""
    return list(store.scan(Card, _captures(url, until), order="newest", limit=limit))


def latest_capture(store: Store, url: str, until: datetime | None = None) -> Record | None:
    """Read the newest capture of a URL; with `until`, the newest one known to be no later."""
    return next(store.scan(Record, _captures(url, until), order="newest", limit=1), None)


def captures_of_urls(store: Store, urls: Collection[str], *, latest: bool = False) -> Iterator[Card]:
    """Yield all captures of these URLs, newest first for each URL, or the latest of each. Takes few requests."""
    for some in batches(dict.fromkeys(urls), MAX_URLS):
        where = Selection(urls=tuple(some), latest=latest)
        yield from store.scan(Card, where, order="newest")


def _captures(url: str, until: datetime | None) -> Selection:
    return Selection(url=url, until=until and _just_after(until))


def _just_after(time: datetime) -> datetime:
    try:
        return time + timedelta(microseconds=1)
    except OverflowError:  # the last time there is
        return time
