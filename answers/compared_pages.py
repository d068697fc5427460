"""Pages of a store compared with each other: exactly from their stored texts, and by sketches beyond a size limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.queries.estimates import NO_SKETCHES, Sketches, estimate_scores
from opensearch_winnow.stores.store import Text

MAX_SHINGLES = 2_000_000  # in all texts read for one answer; further pages are estimated
BATCH_SIZE = 64  # texts in memory at a time


class Likeness(NamedTuple):
    """How page A compares with page B. `error` is the standard error of an estimated resemblance."""

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
    """Compares pages of a store, without registered boilerplate. Each different text is read and prepared once."""

    def __init__(self, index: Index, *, max_shingles: int = MAX_SHINGLES) -> None:
        self._store = index.store
        self._scheme = index.scheme
        self.exclusions = Exclusions(index.boilerplate(), index.scheme)
        self._shingles_left = max_shingles
        self._sides: dict[tuple[str, str], Side] = {}
        self._sketched: dict[str, Sketches] = {}

    def add(self, cards: Iterable[Card]) -> None:
        """Read the texts of pages that were not added before."""
        fresh: dict[tuple[str, str], Card] = {}  # the first page of each text
        for card in cards:
            key = _text_key(card)
            if (
                card.text_digest
                and key not in self._sides
                and key not in fresh
                and card.shingle_count <= self._shingles_left
            ):
                self._shingles_left -= card.shingle_count
                fresh[key] = card
        wanted = list(fresh.values())
        for start in range(0, len(wanted), BATCH_SIZE):
            batch = wanted[start : start + BATCH_SIZE]
            texts = self._store.read([card.id for card in batch], Text)
            for card in batch:
                if card.id in texts and texts[card.id].text:
                    prepared = side(texts[card.id].text, self._scheme, name=card.url, site=card.site)
                    self._sides[_text_key(card)] = prepared

    def add_sketches(self, cards: Iterable[Card]) -> None:
        """Read the sketches of pages whose texts were not read, all at once."""
        wanted = [card.id for card in cards if self.side(card) is None and card.id not in self._sketched]
        if wanted:
            read = self._store.read(wanted, Sketches)
            self._sketched |= {id_: read.get(id_, NO_SKETCHES) for id_ in wanted}

    def side(self, card: Card) -> Side | None:
        """Return the prepared text of a page; None if it is not stored, or was not read for lack of room."""
        return self._sides.get(_text_key(card))

    def likeness(self, a: Card, b: Card) -> Likeness:
        """Compare two added pages."""
        one, other = self.side(a), self.side(b)
        if one is not None and other is not None:
            return Likeness(*scores(one, other, self.exclusions), "exact", 0.0)
        return self._estimated(a, b)

    def pairs(self, cards: Sequence[Card]) -> Iterator[Pair]:
        """Yield every pair: (first, second), (first, third) and so on. The same two texts are compared once."""
        known: dict[tuple[tuple[str, str], tuple[str, str]], Likeness] = {}
        for a, b in combinations(cards, 2):
            texts = _text_key(a), _text_key(b)
            if texts not in known or known[texts].kind == "estimate":
                known[texts] = self.likeness(a, b)
            yield Pair(a, b, known[texts])

    def _estimated(self, a: Card, b: Card) -> Likeness:
        one, other = self._sketches(a), self._sketches(b)
        if self.exclusions:  # boilerplate can be removed from a MOD_m sketch, but not from a MinHash signature
            sketches = self.exclusions.evidence_of_pair(one.sketch, other.sketch, (a.site, b.site))
            one, other = (
                each._replace(sketch=sketch, minhash=b"") for each, sketch in zip((one, other), sketches, strict=True)
            )
        estimate = estimate_scores(one, other, self._scheme)
        return Likeness(*estimate.scores, "estimate", estimate.error("resemblance"))

    def _sketches(self, card: Card) -> Sketches:
        if card.id not in self._sketched:  # its own text was read, but not that of the page it is compared with
            self._sketched[card.id] = self._store.read([card.id], Sketches).get(card.id, NO_SKETCHES)
        return self._sketched[card.id]


def lowest(pairs: Iterable[Pair]) -> Pair | None:
    """Return the pair with the lowest resemblance, the first if several have it; None if there are no pairs."""
    return min(pairs, key=lambda pair: pair.likeness.resemblance, default=None)


def _text_key(card: Card) -> tuple[str, str]:
    """Return a key that decides every score of a page: its text, and its site, whose template is excluded."""
    return card.text_digest, card.site
