"""Lists the captures of a URL in order of time, and compares each with the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import PageComparer
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store


class HistoryEntry(NamedTuple):
    """A capture in the history of its URL."""

    card: Card
    resemblance: float | None  # exact, to the capture before; None for the first, or if a text is not stored


def history(store: Store, url: str, *, limit: int, exclusions: Exclusions = NO_EXCLUSIONS) -> list[HistoryEntry]:
    """Return the latest `limit` captures of a URL, the earliest first. Captures of unknown time come before all others.

    Each is compared with the capture before it, even if that one is beyond the limit. Only texts that differ are read.
    """
    cards = captures(store, url, limit=limit + 1)[::-1]
    resemblances: dict[str, float | None] = {}  # by id
    changed: list[tuple[Card, Card]] = []
    for before, card in pairwise(cards):
        if before.text_digest and before.text_digest == card.text_digest:
            resemblances[card.id] = 1.0
        else:
            changed.append((before, card))
    resemblances.update(compared(store, changed, exclusions))
    return [HistoryEntry(card, resemblances.get(card.id)) for card in cards[max(len(cards) - limit, 0) :]]


def compared(
    store: Store, pairs: Sequence[tuple[Card, Card]], exclusions: Exclusions
) -> Iterator[tuple[str, float | None]]:
    """Yield the id of each later capture and its exact resemblance; None if a text is not stored."""
    # The later capture of a pair is mostly the earlier one of the next: it is prepared once.
    comparer = PageComparer(store, exclusions, sides=SideCache(store.scheme))
    for (_, card), sides in zip(pairs, comparer.sides_of_pairs(pairs), strict=True):
        yield card.id, sides and comparer.scores(*sides).resemblance
