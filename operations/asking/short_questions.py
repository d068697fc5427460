"""Finds pages for questions that are too short for their fingerprints to find every copy, by the words of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.short_phrases import has_run_of_words, short_phrases
from opensearch_winnow.queries.compare import Comparer, Side
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.saved_recipe import recipe_for_run
from opensearch_winnow.stores.store import Candidate, Store

PAGES_PER_READ = 1_000


class PhraseCandidates(NamedTuple):
    """The pages that have a phrase of a question."""

    pages: list[Candidate]
    others: int  # further pages that have one


@dataclass(frozen=True, slots=True)
class ShortQuestion:
    """A question of fewer canonical characters than the guarantee.

    A page that has all of it need not have any of its fingerprints. The text index finds it: a phrase search gives
    candidates, which are compared as always. Below the noise threshold, the words of the question may be in a page by
    chance, so only a page that resembles it as a whole can match.
    """

    store: Store
    side: Side | None  # None: the text is not stored
    words: Words | None  # to search for; None: they would not find every copy

    @classmethod
    def of(cls, store: Store, question: Question, texts_stored: bool | None = None) -> ShortQuestion | None:
        """Return None unless the question is short. `texts_stored` is read from the store if it is not given."""
        scheme, side = store.scheme, question.side
        if side is None:
            return None if question.record.hashes.fingerprints else cls(store, None, None)
        if len(side.chars) >= scheme.t:
            return None
        words = short_phrases(side.canonical, scheme)
        if words is not None and not (are_texts_stored(store) if texts_stored is None else texts_stored):
            words = None
        return cls(store, side, words)

    @property
    def is_below_noise(self) -> bool:
        """True if the question is too short to have a fingerprint."""
        return self.side is None or len(self.side.chars) < self.store.scheme.k

    def candidates(self, where: Filters, most: int | None) -> PhraseCandidates:
        """Find pages by phrases: all, or the `most` that the search ranks best."""
        if self.words is None:
            return PhraseCandidates([], 0)
        with self.store.view(self.words, where) as view:
            total = view.total
            wanted = total if most is None else min(most, total)
            pages = [
                Candidate(page.id, page.url, page.site, page.shingle_count, 0, 0, page.minhash)
                for start in range(0, wanted, PAGES_PER_READ)
                for page in view.ranked(start, min(start + PAGES_PER_READ, wanted))
            ]
        return PhraseCandidates(pages, total - wanted)

    def is_all_in(self, page: Side, comparer: Comparer) -> bool:
        """Return whether the question has fewer words than a shingle, and the page has all of them in a row."""
        scheme = self.store.scheme
        return (
            self.side is not None
            and scheme.k <= len(self.side.chars)
            and len(self.side.canonical.words) < scheme.shingle
            and self._is_run_in(self.side, page, comparer)
        )

    def _is_run_in(self, side: Side, page: Side, comparer: Comparer) -> bool:
        if not has_run_of_words(side.canonical, page.canonical):
            return False
        return not comparer.exclusions or comparer.overlap(side.shingles, page.shingles, (side.site, page.site)).a > 0


def are_texts_stored(store: Store) -> bool:
    """Return whether the store keeps the texts of pages, unless a run overrides its recipe."""
    return recipe_for_run(store).text
