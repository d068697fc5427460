"""Pages of a store held against each other: exactly, from their texts, as far as these are stored and not too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.queries.estimated import NO_SKETCHES, Sketched, estimated
from opensearch_winnow.stores.store import Text

SHINGLES = 2_000_000  # of all texts that are read for one answer; the other pages are estimated
TEXTS = 64  # in memory at a time


class Likeness(NamedTuple):
    """How page A compares with page B. `error` is the standard error of an estimate, of the resemblance."""

    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float


class Pair(NamedTuple):
    a: Card
    b: Card
    likeness: Likeness


class ComparedPages:
    """Each text is read and prepared once, and equal ones together. Registered boilerplate does not count."""

    def __init__(self, index: Index, *, shingles: int = SHINGLES) -> None:
        self._store = index.store
        self._scheme = index.scheme
        self.exclusions = Exclusions(index.boilerplate(), index.scheme)
        self._left = shingles
        self._sides: dict[tuple[str, str], Side] = {}
        self._sketched: dict[str, Sketched] = {}

    def add(self, cards: Iterable[Card]) -> None:
        """Make pages ready; again does nothing."""
        fresh: dict[tuple[str, str], Card] = {}  # the first of equals
        for card in cards:
            key = _text_of(card)
            if card.text_digest and key not in self._sides and key not in fresh and card.shingle_count <= self._left:
                self._left -= card.shingle_count
                fresh[key] = card
        wanted = list(fresh.values())
        for start in range(0, len(wanted), TEXTS):
            some = wanted[start : start + TEXTS]
            texts = self._store.read([card.id for card in some], Text)
            for card in some:
                if card.id in texts and texts[card.id].text:
                    self._sides[_text_of(card)] = side(texts[card.id].text, self._scheme, name=card.url, site=card.site)

    def side(self, card: Card) -> Side | None:
        """None where the text is not stored, or was not read because there are too many."""
        return self._sides.get(_text_of(card))

    def likeness(self, a: Card, b: Card) -> Likeness:
        """Of pages that were added."""
        one, other = self.side(a), self.side(b)
        if one is not None and other is not None:
            return Likeness(*scores(one, other, self.exclusions), "exact", 0.0)
        return self._estimated(a, b)

    def pairs(self, cards: Sequence[Card]) -> Iterator[Pair]:
        """All of them, as (first, second), (first, third) and so on; those of the same texts are looked at once."""
        known: dict[tuple[tuple[str, str], tuple[str, str]], Likeness] = {}
        for a, b in combinations(cards, 2):
            texts = _text_of(a), _text_of(b)
            if texts not in known or known[texts].kind == "estimate":
                known[texts] = self.likeness(a, b)
            yield Pair(a, b, known[texts])

    def _estimated(self, a: Card, b: Card) -> Likeness:
        one, other = self._sketches(a), self._sketches(b)
        if self.exclusions:  # which can be taken out of MOD_m, and not out of MinHash
            sketches = self.exclusions.evidence_of_pair(one.sketch, other.sketch, (a.site, b.site))
            one, other = (
                each._replace(sketch=sketch, minhash=b"") for each, sketch in zip((one, other), sketches, strict=True)
            )
        found = estimated(one, other, self._scheme)
        return Likeness(*found.scores, "estimate", found.error("resemblance"))

    def _sketches(self, card: Card) -> Sketched:
        if card.id not in self._sketched:
            self._sketched[card.id] = self._store.read([card.id], Sketched).get(card.id, NO_SKETCHES)
        return self._sketched[card.id]


def lowest(pairs: Iterable[Pair]) -> Pair | None:
    """The pair that resembles each other least; the first of equals. None of none."""
    return min(pairs, key=lambda pair: pair.likeness.resemblance, default=None)


def _text_of(card: Card) -> tuple[str, str]:
    """Pages that have this in common have all scores in common: a template is of its site."""
    return card.text_digest, card.site
