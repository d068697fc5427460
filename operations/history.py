"""The history of a URL: its captures in the order of time, and how much each resembles the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import NOTHING, Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store, Text

PAIRS = 64  # whose texts are in memory at a time


class Moment(NamedTuple):
    """A capture in the history of its URL."""

    card: Card
    resemblance: float | None  # to the capture before it, exactly; None for the first, or where a text is not stored


def history(store: Store, url: str, *, limit: int, exclusions: Exclusions = NOTHING) -> list[Moment]:
    """So many of the latest captures, the earliest first. One without a time comes before all: it is never the latest.

    Only texts of neighbours that differ are read. The first one that is shown is compared with the one before it, too.
    """
    cards = captures(store, url, limit=limit + 1)[::-1]
    found: dict[str, float | None] = {}
    changed: list[tuple[Card, Card]] = []
    for before, card in pairwise(cards):
        if before.text_digest and before.text_digest == card.text_digest:
            found[card.id] = 1.0
        else:
            changed.append((before, card))
    found.update(_compared(store, changed, exclusions))
    return [Moment(card, found.get(card.id)) for card in cards[max(len(cards) - limit, 0) :]]


def _compared(
    store: Store, pairs: Sequence[tuple[Card, Card]], exclusions: Exclusions
) -> Iterator[tuple[str, float | None]]:
    last: tuple[str, Side] | None = None  # the later page of a pair is mostly the earlier one of the next
    for start in range(0, len(pairs), PAIRS):
        some = pairs[start : start + PAIRS]
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
