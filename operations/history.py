"""Lists the captures of a URL in order of time, and compares each with the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store, Text

BATCH_SIZE = 64  # pairs of captures whose texts are in memory at a time


class Moment(NamedTuple):
    """A capture in the history of its URL."""

    card: Card
    resemblance: float | None  # exact, to the capture before; None for the first, or if a text is not stored


def history(store: Store, url: str, *, limit: int, exclusions: Exclusions = NO_EXCLUSIONS) -> list[Moment]:
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
    return [Moment(card, resemblances.get(card.id)) for card in cards[max(len(cards) - limit, 0) :]]


def compared(
    store: Store, pairs: Sequence[tuple[Card, Card]], exclusions: Exclusions
) -> Iterator[tuple[str, float | None]]:
    """Yield the id of each later capture and its exact resemblance; None if a text is not stored."""
    last: tuple[str, Side] | None = None  # the later capture of a pair is mostly the earlier one of the next
    for start in range(0, len(pairs), BATCH_SIZE):
        some = pairs[start : start + BATCH_SIZE]
        ids = list(dict.fromkeys(card.id for pair in some for card in pair))
        texts = {id_: page.text for id_, page in store.read(ids, Text).items()}
        for before, card in some:
            if not (texts.get(before.id) and texts.get(card.id)):
                yield card.id, None
                continue
            one = last[1] if last and last[0] == before.id else _side(store, before, texts)
            other = _side(store, card, texts)
            last = card.id, other
            yield card.id, scores(one, other, exclusions).resemblance


def _side(store: Store, card: Card, texts: dict[str, str]) -> Side:
    return side(texts[card.id], store.scheme, name=card.url, site=card.site)
