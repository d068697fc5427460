"""Compares pages of a store: exactly by their texts, where these are stored, and otherwise by their sketches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import inf
from typing import Annotated, Literal, NamedTuple, Self, TypeVar

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.side_cache import PageOfText, SideCache
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.compare import Comparer, Side
from opensearch_winnow.queries.estimates import CLEAR_ERRORS, Estimates, estimate_by_minhash
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.stores.store import Candidate, Store, Text

TEXT_BATCH = 64  # texts in memory at a time, beside those that are prepared
SKETCH_BATCH = 1_000
MIN_CANDIDATES_TO_ESTIMATE = 8  # fewer candidates are compared as fast as they are estimated
MAX_SHINGLES = 2_000_000  # in all texts prepared for one answer; further pages are estimated
HALF = 0.5

TextKey = tuple[str, str]
Page = TypeVar("Page", Candidate, Card, Candidate | Card)


class Likeness(NamedTuple):
    """The scores of page A compared with page B. `error` is the standard error of an estimated resemblance."""

    resemblance: Annotated[float, "The shared text, as a share of the text of both."]
    containment: Annotated[float, "The share of A that is in B."]
    contained: Annotated[float, "The share of B that is in A."]
    kind: Annotated[Literal["exact", "estimate"], "The origin of the scores: both texts, or sketches of them."]
    error: Annotated[float, "The standard error of an estimated resemblance."]


class ComparedPair(NamedTuple):
    """Two pages, and how the first compares with the second."""

    a: Card
    b: Card
    likeness: Likeness


class PageComparer(Comparer):
    """Compares pages of a store. Equal texts are read and prepared once, in batches.

    >>> comparer = PageComparer(store, exclusions)
    >>> comparer.prepare(cards)
    >>> comparer.likeness(*cards)

    All methods that read can be cancelled. After the `deadline`, `texts` and `estimates` read no more, and count in
    `skipped` the pages that they leave out.
    """

    def __init__(
        self,
        store: Store,
        exclusions: Exclusions = NO_EXCLUSIONS,
        *,
        max_shingles: float = inf,
        sides: SideCache | None = None,
    ) -> None:
        """`max_shingles` limits the texts that `prepare` keeps; `sides` has texts that were prepared before."""
        super().__init__(store.scheme, exclusions)
        self.deadline: float | None = None  # of `time.perf_counter`
        self.skipped = 0
        self._store = store
        self._shingles_left = max_shingles
        self._cache = sides or SideCache(store.scheme, room=0)
        self._sides: dict[TextKey, Side] = {}
        self._sketched: dict[str, Sketches] = {}  # by id

    @classmethod
    def of(cls, store: Store, *, max_shingles: float = MAX_SHINGLES) -> Self:
        """Return a comparer that leaves out the registered boilerplate of a store."""
        return cls(store, RegisteredBoilerplate(store).exclusions(), max_shingles=max_shingles)

    def is_late(self) -> bool:
        """Return whether the time is up; raise a CancelledError if the answer is no longer wanted."""
        check_cancelled()
        return self.deadline is not None and time.perf_counter() > self.deadline

    # --- texts --------------------------------------------------------------------------------------------------------

    def texts(self, groups: Sequence[Sequence[Card]]) -> Iterator[tuple[Sequence[Card], str]]:
        """Yield each group of pages with the text of its first page: empty if it is not stored."""
        for some in batches(groups, TEXT_BATCH):
            texts = {} if self.is_late() else self._store.read([group[0].id for group in some], Text)
            for group in some:
                if self.is_late():
                    self.skipped += len(group)
                else:
                    yield group, texts[group[0].id].text if group[0].id in texts else ""

    def prepared(self, page: PageOfText, text: str) -> Side:
        """Return the text of a page, prepared for comparison."""
        return self._cache.get(page, text)

    def prepare(self, cards: Iterable[Card]) -> None:
        """Read and keep the texts of pages: each text once, and only as many as `max_shingles` allows."""
        fresh: dict[TextKey, list[Card]] = {}
        for card in cards:
            key = text_key(card)
            if (
                card.text_digest
                and key not in self._sides
                and key not in fresh
                and card.shingle_count <= self._shingles_left
            ):
                self._shingles_left -= card.shingle_count
                fresh[key] = [card]
        for (card,), text in self.texts(list(fresh.values())):
            if text:
                self._sides[text_key(card)] = self.prepared(card, text)

    def side(self, card: Card) -> Side | None:
        """Return the text of a page that `prepare` has kept; None if it is not stored, or beyond `max_shingles`."""
        return self._sides.get(text_key(card))

    def sides_of_pairs(self, pairs: Sequence[tuple[PageOfText, PageOfText]]) -> Iterator[tuple[Side, Side] | None]:
        """Yield the texts of each pair; None if one of them is not stored."""
        for some in batches(pairs, TEXT_BATCH):
            check_cancelled()
            ids = dict.fromkeys(page.id for pair in some for page in pair)
            texts = {id_: page.text for id_, page in self._store.read(ids, Text).items() if page.text}
            for a, b in some:
                known = a.id in texts and b.id in texts
                yield (self.prepared(a, texts[a.id]), self.prepared(b, texts[b.id])) if known else None

    # --- sketches -----------------------------------------------------------------------------------------------------

    def prepare_sketches(self, cards: Iterable[Card]) -> None:
        """Read and keep the sketches of pages whose texts are not kept."""
        self.read_sketches(card.id for card in cards if self.side(card) is None)

    def read_sketches(self, ids: Iterable[str]) -> None:
        """Read and keep the sketches of pages by id."""
        for some in batches([id_ for id_ in dict.fromkeys(ids) if id_ not in self._sketched], SKETCH_BATCH):
            check_cancelled()
            read = self._store.read(some, Sketches)
            self._sketched |= {id_: read.get(id_, NO_SKETCHES) for id_ in some}

    def estimates(self, question: Question, pages: Sequence[Page]) -> Iterator[tuple[Page, Estimates]]:
        """Estimate how a question compares with each page."""
        ours, site = question.sketched, question.record.site
        for some in batches(pages, SKETCH_BATCH):
            if self.is_late():
                self.skipped += len(some)
                continue
            unread = [page.id for page in some if page.id not in self._sketched]
            read = self._store.read(unread, Sketches) if unread else {}
            for page in some:
                theirs = self._sketched.get(page.id) or read.get(page.id, NO_SKETCHES)
                yield page, self.estimate(ours, theirs, (site, page.site))

    def plausible(
        self, question: Question, candidates: Sequence[Candidate], thresholds: Thresholds, *, quick: bool = False
    ) -> list[tuple[Candidate, Estimates]]:
        """Return the candidates that may reach the thresholds, with their estimates.

        With `quick`, the MinHashes that came with the candidates decide, unless one is missing.
        """
        found = self.estimates(question, candidates)
        if quick and not self.exclusions and all(page.minhash for page in candidates):
            found = ((page, self._by_minhash(question, page)) for page in candidates)
        return [(page, estimates) for page, estimates in found if thresholds.may_be_met_by(estimates, CLEAR_ERRORS)]

    def _by_minhash(self, question: Question, page: Candidate) -> Estimates:
        theirs = Sketches(page.shingle_count, NO_SKETCHES.sketch, page.minhash)
        return estimate_by_minhash(question.sketched, theirs, self.scheme)

    # --- pages with each other ----------------------------------------------------------------------------------------

    def likeness(self, a: Card, b: Card) -> Likeness:
        """Compare two pages: exactly if `prepare` has kept both texts."""
        one, other = self.side(a), self.side(b)
        if one is not None and other is not None:
            return Likeness(*self.scores(one, other), "exact", 0.0)
        self.read_sketches((a.id, b.id))
        estimates = self.estimate(self._sketched[a.id], self._sketched[b.id], (a.site, b.site))
        return Likeness(*estimates.scores, "estimate", estimates.error("resemblance"))

    def are_alike(self, a: Card, b: Card) -> bool:
        """Return whether two pages resemble each other by at least half."""
        return self.likeness(a, b).resemblance >= HALF

    def pairs(self, cards: Sequence[Card]) -> Iterator[ComparedPair]:
        """Yield every pair: (first, second), (first, third) and so on. The same two texts are compared once."""
        known: dict[tuple[TextKey, TextKey], Likeness] = {}
        for a, b in combinations(cards, 2):
            texts = text_key(a), text_key(b)
            if texts not in known or known[texts].kind == "estimate":
                known[texts] = self.likeness(a, b)
            yield ComparedPair(a, b, known[texts])


def text_key(page: PageOfText) -> TextKey:
    """Return a key that decides every score of a page: its text, and its site, whose template is boilerplate."""
    return page.text_digest, page.site


def sketched_pages(store: Store, cards: Iterable[Card]) -> PageComparer:
    """Return a comparer of pages by their sketches, which are read all at once."""
    comparer = PageComparer.of(store)
    comparer.prepare_sketches(cards)
    return comparer


def lowest(pairs: Iterable[ComparedPair]) -> ComparedPair | None:
    """Return the pair with the lowest resemblance, the first if several have it; None if there are no pairs."""
    return min(pairs, key=lambda pair: pair.likeness.resemblance, default=None)
