"""Finds the versions of a page or text: every capture that resembles it, grouped by equal texts, the oldest first."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.foundation.option_kinds import share
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import EPOCH, Record
from opensearch_winnow.operations.asking.history import compared
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store

MAX_QUESTIONS = 20  # versions of the page itself whose copies are looked up, each in some milliseconds
MAX_PAGE_CAPTURES = 10_000  # captures of the page itself, the newest


@dataclass(frozen=True, slots=True)
class VersionsQuestion(Options):
    """A page or text whose versions are sought: one of `url`, `id`, `text` and `html`."""

    url: str | None = None
    _: KW_ONLY
    id: str | None = None
    text: str | None = None
    html: str | bytes | None = None
    at: datetime | None = option_of(SimilarQuestion, "at")
    min_resemblance: float = option(
        0.5, share(above_0=True), "Include captures whose resemblance to the page or text is at least X."
    )
    boilerplate: bool = option_of(SimilarOptions, "boilerplate")
    max_seconds: float | None = None


class Version(NamedTuple):
    """Captures with the same text: the same words in the same order."""

    captures: list[Card]  # the oldest first, those of unknown time last
    resemblance: float | None  # exact, to the version before; None for the first, or if a text is not stored
    same: bool  # whether it is the text in question

    @property
    def first_seen(self) -> datetime | None:
        """The time of the earliest capture; None if no time is known."""
        return self.captures[0].fetched_at

    @property
    def pages(self) -> list[str]:
        """The URLs that had this text at some time, in the order in which they were first seen with it."""
        return list(dict.fromkeys(card.url for card in self.captures))

    @property
    def current(self) -> list[str]:
        """The URLs that have this text in their newest capture."""
        latest = {card.url for card in self.captures if card.latest}
        return [url for url in self.pages if url in latest]

    @property
    def replaced(self) -> bool:
        """True if a page that had this text has another one in its newest capture."""
        return len(self.current) < len(self.pages)

    @property
    def stale_pages(self) -> list[str]:
        """The URLs that still have this text, though another page has replaced it."""
        return self.current if self.replaced else []


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a page or text, the oldest first. Behaves like a list of versions."""

    versions: list[Version]
    threshold: float  # the resemblance from which a capture counts as a version
    unscored: int  # candidates that were not scored, because the time was up
    seconds: float

    def __len__(self) -> int:
        return len(self.versions)

    def __iter__(self) -> Iterator[Version]:
        return iter(self.versions)

    def __getitem__(self, index: int) -> Version:
        return self.versions[index]


def versions(
    store: Store,
    page: Record,
    *,
    is_stored: bool,
    min_resemblance: float,
    exclusions: Exclusions,
    max_seconds: float | None,
) -> Versions:
    """Find the versions of `page`, which is a capture if it `is_stored`, and otherwise a text.

    A page changes step by step, and its first version may not resemble the last. So the other versions of the page
    that are found are looked up as well.
    """
    start = time.perf_counter()
    own = captures(store, page.url, limit=MAX_PAGE_CAPTURES) if is_stored else []
    found = {card.id: card for card in own if _key(card) == _key(page)}
    looked_up, unscored = {_key(page)}, 0
    to_look_up = [page]
    while to_look_up:
        left = None if max_seconds is None else max(start + max_seconds - time.perf_counter(), 0.0)
        options = SimilarOptions(min_resemblance=min_resemblance, limit=None, all_captures=True, max_seconds=left)
        version = to_look_up.pop()
        matches = SimilarPages(store, version, options, exclusions, is_stored=is_stored).find(passages=False)
        unscored += matches.unscored
        found |= {match.card.id: match.card for match in matches}
        for match in matches:
            if is_stored and match.url == page.url and _key(match.card) not in looked_up:
                if len(looked_up) < MAX_QUESTIONS:
                    to_look_up += store.read([match.card.id], Record).values()
                looked_up.add(_key(match.card))
    grouped = _grouped(list(found.values()))
    firsts = [some[0] for some in grouped]
    resemblances = dict(compared(store, list(pairwise(firsts)), exclusions))
    made = [Version(some, resemblances.get(some[0].id), same=_key(some[0]) == _key(page)) for some in grouped]
    return Versions(made, min_resemblance, unscored, time.perf_counter() - start)


def _grouped(cards: Sequence[Card]) -> list[list[Card]]:
    """Return the captures by equal texts, each group in order of time; a text without any known time comes first."""
    groups: dict[str, list[Card]] = defaultdict(list)
    for card in sorted(cards, key=lambda card: (card.fetched_at is None, _order(card))):
        groups[_key(card)].append(card)
    return sorted(groups.values(), key=lambda some: _order(some[0]))


def _order(card: Card) -> tuple[datetime, str, str]:
    return card.fetched_at or EPOCH, card.url, card.id


def _key(page: Card | Record) -> str:
    """Return what captures of the same text have in common; the digest of a text may be unknown."""
    return page.text_digest or page.id
