"""Watches: questions that are kept in the store, and asked again as it grows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store

# Each has a setting of its own: whoever checks one does not write over another.
SETTING = "watch:"
MOST = 1_000  # watches of a store
LONGEST_NAME = 100  # characters; OpenSearch takes 512 bytes
LONGEST_TEXT = 1_000_000  # characters
LOOKED_AT = 1_000  # matches of a watch, the best
MOST_SEEN = 10_000  # captures that a watch remembers; the first ones are forgotten


class WatchError(WinnowError):
    """A watch that cannot be kept, or is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who has some of this page, or of this text?"""

    name: str
    url: str | None = None
    text: str | None = None
    min_containment: float  # how much of it a match has
    at: datetime  # when it was made


class WatchReport(NamedTuple):
    """The answer to a watch."""

    watch: Watch
    matches: Matches  # all that there are now, up to LOOKED_AT
    new: frozenset[str]  # the ids of those captures among them of whose URL none was seen before


class Watches:
    """Of one store."""

    def __init__(self, store: Store, ask: Callable[[Watch], Matches]) -> None:
        self._store = store
        self._ask = ask

    def read(self) -> list[Watch]:
        found = self._store.settings(SETTING)
        return [_watch(name.removeprefix(SETTING), found[name]) for name in sorted(found)]

    def add(self, watch: Watch, *, seen: bool, replace: bool) -> None:
        name = watch.name
        if not name.strip() or len(name) > LONGEST_NAME or name != storable(name):
            raise WatchError(f"a watch has a name of 1 to {LONGEST_NAME} characters, not {name[:LONGEST_NAME]!r}")
        if watch.text is not None and len(watch.text) > LONGEST_TEXT:
            raise WatchError(
                f"the text of watch {name} has {len(watch.text):,} characters, and {LONGEST_TEXT:,} can be kept:"
                " watch a part of it, or a page by its URL"
            )
        there = self._store.settings(SETTING).keys()
        if SETTING + name in there and not replace:
            raise WatchError(f"{self._store.name} has a watch {name} already: replace it, or give another name")
        if len(there | {SETTING + name}) > MOST:
            raise WatchError(f"{self._store.name} has {MOST:,} watches, and can have no more: remove one")
        matches = self._ask(watch)  # asked in any case, so that one which cannot be answered is not kept
        self._keep(watch, [match.card.id for match in matches] if seen else [])

    def remove(self, name: str) -> None:
        self._kept(name)
        self._store.set_setting(SETTING + name, None)

    def check(self, name: str) -> WatchReport:
        kept = self._kept(name)
        watch, seen = _watch(name, kept), set(kept["seen"])
        matches = self._ask(watch)
        new = frozenset(
            match.card.id for match in matches if match.card.id not in seen and not self._known(match.url, seen)
        )
        return WatchReport(watch, matches, new)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        kept = self._kept(name)
        self._keep(_watch(name, kept), list(dict.fromkeys([*kept["seen"], *sorted(ids)])))

    def _known(self, url: str, seen: Collection[str]) -> bool:
        """Whether a capture of this URL was seen: a page that is crawled again is no news."""
        return any(card.id in seen for card in captures(self._store, url, limit=MOST_SEEN))

    def _kept(self, name: str) -> dict[str, Any]:
        kept: dict[str, Any] | None = self._store.setting(SETTING + name)
        if kept is None:
            names = [each.name for each in self.read()]
            there = f"there is {', '.join(names)}" if names else "there is none"
            raise WatchError(f"{self._store.name} has no watch {name}; {there}")
        return kept

    def _keep(self, watch: Watch, seen: list[str]) -> None:
        kept = {
            "url": watch.url,
            "text": watch.text,
            "min_containment": watch.min_containment,
            "at": watch.at.isoformat(),
            "seen": seen[-MOST_SEEN:],
        }
        self._store.set_setting(SETTING + watch.name, kept)


def _watch(name: str, kept: dict[str, Any]) -> Watch:
    return Watch(
        name=name,
        url=kept["url"],
        text=kept["text"],
        min_containment=kept["min_containment"],
        at=datetime.fromisoformat(kept["at"]),
    )
