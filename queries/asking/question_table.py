"""Finds the questions that a page may match, by looking up the tokens of all of them together."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from opensearch_winnow.cython_core.overlap import matching_runs
from opensearch_winnow.cython_core.sorted_postings import sorted_postings
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Field, Lookup

# A passage that thousands of questions have in common must not slow down every page that has it. The rarest tokens of a
# page are looked up first, up to this many pairs of a token and a question: half a millisecond.
MAX_POSTINGS_PER_PAGE = 5_000
MAX_CANDIDATES = 100  # questions that a page is compared with, by shared tokens


class CandidateQuestions(NamedTuple):
    """The questions that a page may match."""

    numbers: list[int]  # most shared tokens first
    complete: bool = True  # False if the page may match others, too


NO_CANDIDATES = CandidateQuestions([])


class QuestionTable:
    """The lookups of many questions, numbered in their order: the same lookups that a store would get.

    >>> table = QuestionTable([list(lookups(question, thresholds, boilerplate=False)) for question in questions])
    >>> table.candidates(record).numbers
    [3, 17]
    """

    def __init__(self, questions: Iterable[Iterable[Lookup]]) -> None:
        self._minima: dict[Field, array[int]] = {"sketch": array("I"), "fingerprints": array("I")}  # 0: not looked up
        tokens: dict[Field, array[int]] = {field: array("Q") for field in self._minima}
        counts: dict[Field, array[int]] = {field: array("I") for field in self._minima}
        for lookups in questions:
            by_field = {lookup.field: lookup for lookup in lookups}
            for field, minima in self._minima.items():
                lookup = by_field.get(field)
                minima.append(lookup.minimum if lookup else 0)
                counts[field].append(len(lookup.tokens) if lookup else 0)
                tokens[field] += lookup.tokens if lookup else array("Q")
        numbers = array("I", range(len(self._minima["sketch"])))
        self._postings = {field: sorted_postings(tokens[field], counts[field], numbers) for field in self._minima}

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self._minima["sketch"])

    def candidates(self, record: Record) -> CandidateQuestions:
        """Return the questions that share as many tokens with the page as one of their lookups requires."""
        shared: Counter[int] = Counter()
        complete = True
        for field, minima in self._minima.items():
            found, left_out = self._shared(field, getattr(record.hashes, field))
            # The question may share the tokens that were left out.
            shared.update({each: count for each, count in found.items() if count + left_out >= minima[each]})
            complete = complete and not left_out
        if complete and not shared:
            return NO_CANDIDATES
        best = sorted(shared, key=lambda each: (-shared[each], each))
        return CandidateQuestions(best[:MAX_CANDIDATES], complete and len(best) <= MAX_CANDIDATES)

    def _shared(self, field: Field, tokens: array[int]) -> tuple[Counter[int], int]:
        """Count the tokens that each question shares; also return the number of tokens left out as too frequent."""
        known, numbers = self._postings[field]
        shared: Counter[int] = Counter()
        hits = {tokens[at] for start, end in matching_runs(tokens, known) for at in range(start, end)}
        ranges = sorted(
            ((bisect_left(known, token), bisect_right(known, token)) for token in hits),
            key=lambda each: (each[1] - each[0], each),
        )
        room = MAX_POSTINGS_PER_PAGE
        for done, (start, end) in enumerate(ranges):
            room -= end - start
            if room < 0:
                return shared, len(ranges) - done
            shared.update(numbers[start:end])
        return shared, 0
