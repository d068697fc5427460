"""Keeps watches in a store: saved questions, to be checked again as the store grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.foundation.option_kinds import FLAG, share
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.operations.asking.page_finder import PageFinder
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.stores.captures import captures, captures_of_urls
from opensearch_winnow.stores.store import Store

# Each watch has a setting of its own, so that checking one never overwrites another.
SETTING = "watch:"
MAX_WATCHES = 10_000  # per store
MAX_NAME_CHARS = 100  # OpenSearch takes ids of 512 bytes
MAX_TEXT_CHARS = 1_000_000
MAX_MATCHES = 1_000  # per check, the best
MAX_SEEN = 10_000  # captures that a watch remembers; the oldest are forgotten
MAX_LISTED_NAMES = 10  # in a message
DEFAULT_MIN_CONTAINMENT = 0.3


class WatchError(WinnowError):
    """A watch that does not exist, or cannot be saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddingOptions(Options):
    """The options for adding watches."""

    seen: bool = option(True, FLAG, "Report the pages that match now as new in the first check.", flag="--unseen")
    replace: bool = option(False, FLAG, "Replace the watch of this name, if there is one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions(AddingOptions):
    """The options of a watch that is added."""

    min_containment: float = option(
        DEFAULT_MIN_CONTAINMENT,
        share(),
        "Pages that contain at least X of it. 0 finds all that share a passage with it.",
    )


@dataclass(frozen=True, slots=True)
class NewWatch(WatchOptions):
    """A watch to add: its name, and a page (`url`) or a `text`."""

    name: str
    _: KW_ONLY
    url: str | None = None
    text: str | None = None


@answer
class Watch(Answer):
    """A saved question: which pages contain parts of this page, or of this text?"""

    _: KW_ONLY
    name: str = key("The name of the watch.")
    at: datetime = key("The time when it was added.", default_factory=lambda: datetime.now(UTC))
    min_containment: float = key("The least share of it that a match contains.", default=DEFAULT_MIN_CONTAINMENT)
    url: str | None = key("The URL of the page that is watched; null if it is a text.", default=None)
    text: str | None = key("The text that is watched; null if it is a page.", default=None)


@answer
class AddedWatches(Answer):
    """Watches that were added together."""

    added: int = key("The number of watches.")


@answer
class WatchList(Listing[Watch]):
    """The watches of a store, by name."""

    watches: list[Watch] = listed("The watches, by name.")


@answer
class WatchMatch(Answer):
    """A match of a watch, in a table."""

    watch: str = key("The name of the watch.")
    new: bool = key("True if no capture of its URL was seen before.")
    match: Match = inlined()


@answer
class WatchReport(Listing[Match]):
    """The answer to the question of a watch."""

    watch: Watch = inlined()
    found: Matches | None  # the best 1,000 of the matches now; None: the watch cannot be checked
    new: frozenset[str]  # ids of the matches whose URL has no capture that was seen before
    matches: list[Match] = listed("The best of the matches, the new ones first.")
    error: str | None = key("The reason why the watch cannot be checked; null if it can.", default=None)

    @property
    @derived
    def total(self) -> int:
        """The number of pages that match now, of which some may not be listed."""
        return 0 if self.found is None else self.found.total

    @property
    @derived(name="new")
    def new_ids(self) -> list[str]:
        """The ids of the matches that are new: no capture of their URL was seen before."""
        return [match.id for match in self.new_matches]

    @property
    def new_matches(self) -> list[Match]:
        """The matches that are new, the best first."""
        return [match for match in self.found or () if match.id in self.new]


@answer
class CheckedWatches(Listing[WatchReport]):
    """Watches with the pages that match now."""

    row = WatchMatch

    total: int = key("The number of watches, of which some may not be listed.")
    watches: list[WatchReport] = listed("The watches, each with its matches.")
    only_new: bool = False  # the table has only the new matches

    def rows(self) -> Iterator[WatchMatch]:
        """Yield the matches of each watch."""
        for report in self.watches:
            for match in report.new_matches if self.only_new else report.matches:
                yield WatchMatch(report.watch.name, match.id in report.new, match)


class Watches:
    """The watches of a store. `similar` answers their questions, as `Index.similar` does."""

    def __init__(self, store: Store, similar: Callable[..., Matches]) -> None:
        self._store = store
        self._similar = similar

    def names(self) -> list[str]:
        """Return the names of all watches, sorted."""
        return [name.removeprefix(SETTING) for name in self._store.settings.names(SETTING)]

    def read(self) -> WatchList:
        """Return all watches, by name."""
        return WatchList([watch_of(name, kept) for name, kept in kept_watches(self._store).items()])

    def get(self, name: str) -> Watch:
        """Return the watch of this name."""
        return watch_of(name, self._kept(name))

    def add(self, watch: Watch, *, seen: bool, replace: bool) -> None:
        """Save a watch. With `seen`, current matches do not count as new; with `replace`, it may replace another."""
        self._require_room([watch], replace=replace)
        self._require_fingerprints(watch)
        matches = self._ask(watch)  # even without `seen`: a question that cannot be answered is not kept
        kept = _kept_value(watch, [each.id for each in matches] * seen)
        self._store.settings.set({SETTING + watch.name: kept})

    def add_all(self, watches: Iterable[Watch], *, seen: bool, replace: bool) -> int:
        """Save watches as `add` does, all or none, and return their number. Without `seen`, nothing is looked up."""
        added = list(watches)
        self._require_room(added, replace=replace)
        kept = {SETTING + watch.name: _kept_value(watch, ids) for watch, ids in self._with_matches(added, seen=seen)}
        self._store.settings.set(kept)
        return len(added)

    def _with_matches(self, watches: Sequence[Watch], *, seen: bool) -> Iterator[tuple[Watch, list[str]]]:
        """Yield each watch with the ids of its matches; without `seen`, only check that it can be answered."""
        pages = PageFinder(self._store)
        urls = set() if seen else {watch.url for watch in watches if watch.url is not None}
        known = {card.url for card in captures_of_urls(self._store, urls)}
        for watch in watches:
            try:
                self._require_fingerprints(watch)
                if seen:
                    yield watch, [match.id for match in self._ask(watch)]
                    continue
                Thresholds.of("containment", {"containment": watch.min_containment})
                if watch.text is not None or watch.url is None or storable(watch.url) not in known:
                    pages.find(url=watch.url, text=watch.text)
                yield watch, []
            except QuestionError as error:
                raise WatchError(f"watch {watch.name}: {error}") from None

    def remove(self, name: str) -> None:
        """Delete a watch."""
        self._kept(name)
        self._store.settings.set({SETTING + name: None})

    def check(self, name: str) -> WatchReport:
        """Ask the question of a watch again."""
        kept = self._kept(name)
        watch, seen = watch_of(name, kept), set(kept["seen"])
        matches = self._ask(watch)
        new = frozenset(match.id for match in matches if match.id not in seen and not self._known(match.url, seen))
        return WatchReport(watch, matches, new, sorted(matches, key=lambda match: match.id not in new))

    def mark_seen(self, name: str, ids: Collection[str]) -> None:
        """Remember these captures: they, and later captures of their URLs, are no longer new."""
        self._kept(name)  # raises if there is no such watch

        def with_seen(kept: dict[str, Any] | None) -> dict[str, Any] | None:
            if kept is None:  # it was removed just now
                return None
            return kept | {"seen": list(dict.fromkeys([*kept["seen"], *sorted(ids)]))[-MAX_SEEN:]}

        self._store.settings.change(SETTING + name, with_seen)

    def _require_room(self, added: Collection[Watch], *, replace: bool) -> None:
        """Raise unless these watches can be kept, with their names and texts."""
        for watch in added:
            name = watch.name
            if not name.strip() or len(name) > MAX_NAME_CHARS or name != storable(name):
                raise WatchError(
                    f"a watch has a name of 1 to {MAX_NAME_CHARS} characters, not {name[:MAX_NAME_CHARS]!r}"
                )
            if watch.text is not None and len(watch.text) > MAX_TEXT_CHARS:
                raise WatchError(
                    f"the text of watch {name} has {len(watch.text):,} characters, but at most {MAX_TEXT_CHARS:,} can"
                    " be kept: watch a part of it, or a page by its URL"
                )
        names, existing = Counter(watch.name for watch in added), set(self.names())
        if len(names) < len(added):
            raise WatchError(f"there are two watches {names.most_common(1)[0][0]}: give each a name of its own")
        if not replace and (there := existing.intersection(names)):
            raise WatchError(f"{self._store.name} has a watch {min(there)} already: replace it, or give another name")
        if len(existing.union(names)) > MAX_WATCHES:
            raise WatchError(f"{self._store.name} has {MAX_WATCHES:,} watches, the most it can have: remove one")

    def _require_fingerprints(self, watch: Watch) -> None:
        """Raise a QuestionError if a text is too short: new pages are found by fingerprints alone."""
        if watch.text is not None:
            PageFinder(self._store).text_record(watch.text, None, least=self._store.scheme.k)

    def _ask(self, watch: Watch) -> Matches:
        return self._similar(url=watch.url, text=watch.text, min_containment=watch.min_containment, limit=MAX_MATCHES)

    def _known(self, url: str, seen: Collection[str]) -> bool:
        """Return whether a capture of this URL was seen: a page that is crawled again is not new."""
        return any(card.id in seen for card in captures(self._store, url, limit=MAX_SEEN))

    def _kept(self, name: str) -> dict[str, Any]:
        kept = kept_watch(self._store, name)
        if kept is None:
            raise WatchError(f"{self._store.name} has no watch {name}; {_there_is(self.names())}")
        return kept


def kept_watches(store: Store) -> dict[str, dict[str, Any]]:
    """Return the stored values of each watch, by name: those that `watch_of` takes, and the ids that were `seen`."""
    return {name.removeprefix(SETTING): kept for name, kept in store.settings.with_prefix(SETTING).items()}


def kept_watch(store: Store, name: str) -> dict[str, Any] | None:
    """Return the stored values of one watch; None if there is no watch of this name."""
    kept: dict[str, Any] | None = store.settings.get(SETTING + name)
    return kept


def watch_of(name: str, kept: dict[str, Any]) -> Watch:
    """Make a watch from its stored values."""
    return Watch(
        name=name,
        url=kept["url"],
        text=kept["text"],
        min_containment=kept["min_containment"],
        at=datetime.fromisoformat(kept["at"]),
    )


def _kept_value(watch: Watch, seen: list[str]) -> dict[str, Any]:
    return {
        "url": watch.url,
        "text": watch.text,
        "min_containment": watch.min_containment,
        "at": watch.at.isoformat(),
        "seen": seen[-MAX_SEEN:],
    }


def _there_is(names: list[str]) -> str:
    if len(names) > MAX_LISTED_NAMES:
        return f"there are {', '.join(names[:MAX_LISTED_NAMES])} and {len(names) - MAX_LISTED_NAMES:,} others"
    return f"there is {', '.join(names)}" if names else "there is none"
