"""Finds the versions of a page or text: every capture that resembles it, grouped by equal texts, the oldest first."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from itertools import pairwise

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, key, listed
from opensearch_winnow.foundation.option_kinds import number, share
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.history import compared
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store

MAX_QUESTIONS = 20  # versions of the page itself whose copies are looked up, each in some milliseconds
MAX_PAGE_CAPTURES = 10_000  # captures of the page itself, the newest
MAX_VERSIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class VersionsQuestion(Options):
    """A page or text whose versions are sought: one of `url`, `id`, `text` and `html`."""

    url: str | None = None
    _: KW_ONLY
    id: str | None = None
    text: str | None = None
    html: str | bytes | None = None
    at: datetime | None = None
    min_resemblance: float = option(
        0.5, share(above_0=True), "Include captures whose resemblance to the page or text is at least X."
    )
    boilerplate: bool = option_of(SimilarOptions, "boilerplate")
    limit: int | None = option(
        1_000, number(1, MAX_VERSIONS), "Show the latest N versions, and the first N pages of each."
    )
    max_seconds: float | None = None


@answer
class Version(Answer):
    """Captures with the same text: the same words in the same order."""

    captures: list[Card]  # the oldest first, those of unknown time last
    resemblance: float | None = key(
        "The exact resemblance to the version before; null for the first, or if a text is not stored."
    )
    same: bool = key("True if it is the text in question.")
    max_pages: int | None = None  # to list; None: all

    @property
    @derived
    def id(self) -> str:
        """The id of the earliest capture."""
        return self.captures[0].id

    @property
    @derived
    def title(self) -> str | None:
        """The title of the earliest capture."""
        return self.captures[0].title

    @property
    @derived
    def first_seen(self) -> datetime | None:
        """The time of the earliest capture; null if no time is known."""
        return self.captures[0].fetched_at

    @property
    @derived
    def first_url(self) -> str:
        """The URL of the earliest capture."""
        return self.captures[0].url

    @property
    @derived
    def last_seen(self) -> datetime | None:
        """The time of the latest capture; null if no time is known."""
        return max((card.fetched_at for card in self.captures if card.fetched_at), default=None)

    @property
    @derived
    def stale(self) -> bool:
        """True if a page that had this text has another one in its newest capture."""
        return len(self.current) < len(self._urls)

    @property
    @derived
    def capture_count(self) -> int:
        """The number of captures."""
        return len(self.captures)

    @property
    @derived
    def page_count(self) -> int:
        """The number of pages that had this text at some time, of which some may be left out."""
        return len(self._urls)

    @property
    @derived
    def pages(self) -> list[str]:
        """The URLs that had this text at some time, in the order in which they were first seen with it."""
        return self._urls[: self.max_pages]

    @property
    @derived
    def page_ids(self) -> list[str]:
        """The ids of the last captures of these pages with this text."""
        last = {card.url: card.id for card in self.captures}
        return [last[url] for url in self.pages]

    @property
    @derived
    def stale_pages(self) -> list[str]:
        """The URLs that still have this text, though another page has replaced it."""
        return self.current[: self.max_pages] if self.stale else []

    @property
    def current(self) -> list[str]:
        """The URLs that have this text in their newest capture."""
        latest = {card.url for card in self.captures if card.latest}
        return [url for url in self._urls if url in latest]

    @property
    def _urls(self) -> list[str]:
        return list(dict.fromkeys(card.url for card in self.captures))


@answer
class VersionPage(Answer):
    """A page of a version, in a table."""

    number: int = key("The number of the version, from 1 for the oldest.", name="version")
    version: Version
    stale: bool = key("True if the page still has this text, though another page has replaced it.")
    url: str = key("The URL of the page.")
    id: str = key("The id of its last capture with this text.")

    @property
    @derived
    def first_seen(self) -> datetime | None:
        """The time of the earliest capture with this text, of any page."""
        return self.version.first_seen

    @property
    @derived
    def last_seen(self) -> datetime | None:
        """The time of the latest capture with this text, of any page."""
        return self.version.last_seen

    @property
    @derived
    def resemblance(self) -> float | None:
        """The resemblance of this version to the one before it."""
        return self.version.resemblance


@answer
class Versions(Listing[Version]):
    """The versions of a page or text, the oldest first."""

    row = VersionPage

    total: int = key("The number of versions, of which only the latest may be listed.")
    page_count: int = key("The number of URLs that they have.")
    stale_count: int = key("The number of URLs that still have a version which another page has replaced.")
    min_resemblance: float = key("The least resemblance of a version to the text in question, or to another version.")
    unscored: int = key("Candidates that were not compared, because the time was up.")
    seconds: float = key("The time it took.")
    versions: list[Version] = listed("The versions, the oldest first.")

    def rows(self) -> Iterator[VersionPage]:
        """Yield each page of each version."""
        for i, version in enumerate(self.versions, 1):
            stale = set(version.stale_pages)
            for url, id_ in zip(version.pages, version.page_ids, strict=True):
                yield VersionPage(i, version, url in stale, url, id_)


def versions(
    store: Store,
    page: Record,
    *,
    is_stored: bool,
    min_resemblance: float,
    limit: int | None,
    exclusions: Exclusions,
    max_seconds: float | None,
) -> Versions:
    """Find the versions of `page`, which is a capture if it `is_stored`, and otherwise a text.

    A page changes step by step, and its first version may not resemble the last. So the other versions of the page
    that are found are looked up as well.
    """
    start = time.perf_counter()
    own = captures(store, page.url, limit=MAX_PAGE_CAPTURES) if is_stored else []
    own_key = page.hashes.text_digest or page.id
    found = {card.id: card for card in own if _key(card) == own_key}
    looked_up, unscored = {own_key}, 0
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
    made = [
        Version(some, resemblances.get(some[0].id), same=_key(some[0]) == own_key, max_pages=limit) for some in grouped
    ]
    return Versions(
        total=len(made),
        page_count=len({card.url for card in found.values()}),
        stale_count=len({url for version in made if version.stale for url in version.current}),
        min_resemblance=min_resemblance,
        unscored=unscored,
        seconds=time.perf_counter() - start,
        versions=made if limit is None else made[-limit:],
    )


def _grouped(cards: Sequence[Card]) -> list[list[Card]]:
    """Return the captures by equal texts, each group in order of time; a text without any known time comes first."""
    groups: dict[str, list[Card]] = defaultdict(list)
    for card in sorted(cards, key=lambda card: (card.fetched_at is None, _order(card))):
        groups[_key(card)].append(card)
    return sorted(groups.values(), key=lambda some: _order(some[0]))


def _order(card: Card) -> tuple[datetime, str, str]:
    return card.fetched_at or EPOCH, card.url, card.id


def _key(card: Card) -> str:
    """Return a key that captures of the same text share; the digest of a text may be unknown."""
    return card.text_digest or card.id
