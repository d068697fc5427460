"""Keeps watches in a store: saved questions, to be checked again as the store grows."""

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

# Each watch has a setting of its own, so that checking one never overwrites another.
SETTING = "watch:"
MAX_WATCHES = 1_000  # per store
MAX_NAME_CHARS = 100  # OpenSearch takes ids of 512 bytes
MAX_TEXT_CHARS = 1_000_000
MAX_MATCHES = 1_000  # per check, the best
MAX_SEEN = 10_000  # captures that a watch remembers; the oldest are forgotten


class WatchError(WinnowError):
    """A watch that does not exist, or cannot be saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A saved question: which pages contain parts of this page, or of this text?"""

    name: str
    url: str | None = None
    text: str | None = None
    min_containment: float  # the minimum share of it that a match contains
    at: datetime  # when the watch was added


class WatchReport(NamedTuple):
    """The result of checking a watch."""

    watch: Watch
    matches: Matches  # the best 1,000 of the matches now
    new: frozenset[str]  # ids of the matches whose URL has no capture that was seen before


class Watches:
    """The watches of a store. `similar` answers their questions, as `Index.similar` does."""

    def __init__(self, store: Store, similar: Callable[..., Matches]) -> None:
        self._store = store
        self._similar = similar

    def read(self) -> list[Watch]:
        """Return all watches, by name."""
        found = self._store.settings(SETTING)
        return [_watch(name.removeprefix(SETTING), found[name]) for name in sorted(found)]

    def add(self, watch: Watch, *, seen: bool, replace: bool) -> None:
        """Save a watch. With `seen`, current matches do not count as new; with `replace`, it may replace another."""
        name = watch.name
        if not name.strip() or len(name) > MAX_NAME_CHARS or name != storable(name):
            raise WatchError(f"a watch has a name of 1 to {MAX_NAME_CHARS} characters, not {name[:MAX_NAME_CHARS]!r}")
        if watch.text is not None and len(watch.text) > MAX_TEXT_CHARS:
            raise WatchError(
                f"the text of watch {name} has {len(watch.text):,} characters, but at most {MAX_TEXT_CHARS:,} can"
                " be kept: watch a part of it, or a page by its URL"
            )
        existing = self._store.settings(SETTING).keys()
        if SETTING + name in existing and not replace:
            raise WatchError(f"{self._store.name} has a watch {name} already: replace it, or give another name")
        if len(existing | {SETTING + name}) > MAX_WATCHES:
            raise WatchError(f"{self._store.name} has {MAX_WATCHES:,} watches, the most it can have: remove one")
        matches = self._ask(watch)  # even without `seen`: a question that cannot be answered is not kept
        self._keep(watch, [match.card.id for match in matches] if seen else [])

    def remove(self, name: str) -> None:
        """Delete a watch."""
        self._kept(name)
        self._store.set_setting(SETTING + name, None)

    def check(self, name: str) -> WatchReport:
        """Ask the question of a watch again."""
        kept = self._kept(name)
        watch, seen = _watch(name, kept), set(kept["seen"])
        matches = self._ask(watch)
        new = frozenset(
            match.card.id for match in matches if match.card.id not in seen and not self._known(match.url, seen)
        )
        return WatchReport(watch, matches, new)

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """Remember these captures: they, and later captures of their URLs, are no longer new."""
        kept = self._kept(name)
        self._keep(_watch(name, kept), list(dict.fromkeys([*kept["seen"], *sorted(ids)])))

    def _ask(self, watch: Watch) -> Matches:
        return self._similar(url=watch.url, text=watch.text, min_containment=watch.min_containment, limit=MAX_MATCHES)

    def _known(self, url: str, seen: Collection[str]) -> bool:
        """Return whether a capture of this URL was seen: a page that is crawled again is not new."""
        return any(card.id in seen for card in captures(self._store, url, limit=MAX_SEEN))

    def _kept(self, name: str) -> dict[str, Any]:
        kept: dict[str, Any] | None = self._store.setting(SETTING + name)
        if kept is None:
            names = [each.name for each in self.read()]
            existing = f"there is {', '.join(names)}" if names else "there is none"
            raise WatchError(f"{self._store.name} has no watch {name}; {existing}")
        return kept

    def _keep(self, watch: Watch, seen: list[str]) -> None:
        kept = {
            "url": watch.url,
            "text": watch.text,
            "min_containment": watch.min_containment,
            "at": watch.at.isoformat(),
            "seen": seen[-MAX_SEEN:],
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
