"""The passages as they are shown: numbered in the order of A, with their size, and whether they moved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.compare import Passage


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    number: int  # from 1
    passage: Passage
    words: int
    moved: bool

    @property
    def size(self) -> str:
        return "1 word" if self.words == 1 else f"{self.words:,} words"


def numbered_passages(a: str, passages: Sequence[Passage]) -> list[NumberedPassage]:
    """Give the passages, which are in the order of A, what a reader wants to know of each."""
    kept = in_order([passage.other_start for passage in passages])
    return [
        NumberedPassage(
            number, passage, len(canonical_text(a[passage.start : passage.end]).words), number - 1 not in kept
        )
        for number, passage in enumerate(passages, 1)
    ]


def in_order(starts: Sequence[int]) -> set[int]:
    """The indices of a longest subsequence that never falls. What is not in it has moved, and no fewer can have."""
    tails: list[int] = []  # the smallest start that ends a subsequence of each length
    ends: list[int] = []  # its index
    before: list[int] = []  # for each index, the one before it in its subsequence
    for index, start in enumerate(starts):
        length = bisect_right(tails, start)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [start]
        ends[length : length + 1] = [index]
    kept = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept
