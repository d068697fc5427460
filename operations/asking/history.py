"""Lists the captures of a URL in order of time, and compares each with the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

from opensearch_winnow.foundation.answers import Answer, Listing, answer, inlined, key, listed
from opensearch_winnow.foundation.option_kinds import FLAG, number
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import PageComparer
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store

MAX_CAPTURES = 1_000_000


@dataclass(frozen=True, slots=True)
class HistoryQuestion(Options):
    """A URL whose captures are sought."""

    url: str = ""
    _: KW_ONLY
    limit: int = option(1_000, number(1, MAX_CAPTURES), "Show the latest N captures.")
    changed: bool = option(False, FLAG, "Leave out captures with the same text as the capture before.")
    boilerplate: bool = option_of(SimilarOptions, "boilerplate")


@answer
class HistoryEntry(Answer):
    """A capture in the history of its URL."""

    card: Card = inlined("id", "fetched_at", "crawl", "title", "duplicate")
    resemblance: float | None = key(
        "The exact resemblance to the capture before; null for the first, or if a text is not stored."
    )


@answer
class History(Listing[HistoryEntry]):
    """The captures of a URL in order of time; captures of unknown time come first."""

    url: str = key("The URL.")
    earlier: bool = key("True if earlier captures are left out.")
    unchanged: int = key("The number of captures that are left out because they have the text of the capture before.")
    captures: list[HistoryEntry] = listed("The latest captures, the earliest first.")


def history(
    store: Store, url: str, *, limit: int, changed: bool = False, exclusions: Exclusions = NO_EXCLUSIONS
) -> History:
    """Return the latest `limit` captures of a URL; with `changed`, only those whose text differs from the one before.

    Each is compared with the capture before it, even if that one is beyond the limit. Only texts that differ are read.
    """
    found = captures(store, url, limit=None if changed else limit + 1)[::-1]
    kept = [*found[:1], *(card for before, card in pairwise(found) if not (changed and _same_text(before, card)))]
    cards = kept[-limit - 1 :]  # with the one before the first that is shown
    resemblances: dict[str, float | None] = {}  # by id
    different: list[tuple[Card, Card]] = []
    for before, card in pairwise(cards):
        if _same_text(before, card):
            resemblances[card.id] = 1.0
        else:
            different.append((before, card))
    resemblances.update(compared(store, different, exclusions))
    entries = [HistoryEntry(card, resemblances.get(card.id)) for card in cards[-limit:]]
    return History(url, len(kept) > limit, len(found) - len(kept), entries)


def _same_text(before: Card, card: Card) -> bool:
    """Return whether two captures are known to have the same text; the digest of a text may be unknown."""
    return bool(before.text_digest) and before.text_digest == card.text_digest


def compared(
    store: Store, pairs: Sequence[tuple[Card, Card]], exclusions: Exclusions
) -> Iterator[tuple[str, float | None]]:
    """Yield the id of each later capture and its exact resemblance; None if a text is not stored."""
    # The later capture of a pair is mostly the earlier one of the next: it is prepared once.
    comparer = PageComparer(store, exclusions, sides=SideCache(store.scheme))
    for (_, card), sides in zip(pairs, comparer.sides_of_pairs(pairs), strict=True):
        yield card.id, sides and comparer.scores(*sides).resemblance
