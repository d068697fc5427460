"""Keeps the list of pages that a store refuses, so that deleted pages do not come back with the next crawl."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import site_of
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.store import Store

SETTING = "blocked"
PREFIX = "*"  # ends an entry that is the beginning of URLs
SITE = "site:"  # begins an entry that is a host


class BlockedPages:
    """Tells whether a URL is blocked: `url in BlockedPages(entries)`.

    An entry is a URL, the beginning of URLs and `*`, or `site:` and a host.
    """

    def __init__(self, entries: Iterable[str] | None) -> None:
        self._entries = frozenset(entries or ())
        self._prefixes = tuple(each.removesuffix(PREFIX) for each in self._entries if each.endswith(PREFIX))

    def __contains__(self, url: str) -> bool:
        if not self._entries:
            return False
        return url in self._entries or url.startswith(self._prefixes) or SITE + site_of(url) in self._entries


def blocked_entries(store: Store) -> list[str]:
    """Return the entries of the list, sorted."""
    entries: list[str] = store.settings.get(SETTING) or []
    return entries


def related_entry(store: Store, entry: str) -> str | None:
    """Return a listed entry that blocks the same pages as the unknown `entry`, to suggest it; None without one."""
    for other in blocked_entries(store):
        if other in (f"{SITE}{entry}", f"{entry}{PREFIX}") or entry in BlockedPages([other]):
            return other
    return None


def change_blocked(store: Store, *, add: Collection[str] = (), remove: Collection[str] = ()) -> None:
    """Add entries to the list, and remove others. Concurrent changes do not undo each other."""
    store.settings.change(SETTING, lambda entries: sorted({*(entries or ()), *add}.difference(remove)) or None)


def blocked_captures(store: Store, entries: Collection[str]) -> Iterator[Card]:
    """Yield the captures in the store that these entries of the list block."""
    yield from captures_of_urls(store, [each for each in entries if not each.endswith(PREFIX)])
    for entry in entries:
        if entry.endswith(PREFIX):
            yield from store.scan(Card, Selection(url_prefix=entry.removesuffix(PREFIX)))
        elif entry.startswith(SITE):
            yield from store.scan(Card, Filters(site=entry.removeprefix(SITE)))
