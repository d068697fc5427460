"""Numbers passages for display, with the length of each and whether it moved."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, answer, inlined, key
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.scores import Passage


@answer
class NumberedPassage(Answer):
    """A passage as it is shown to a reader."""

    number: int = key("The number of the passage, from 1, in the order of A.")
    passage: Passage = inlined()
    words: int = key("Its length in words, or in tokens of a program.")
    moved: bool = key("True if it is not in the longest series of passages in the same order in both texts.")
    lines: int | None = None  # of a program; None: it is shown as text
    unit: str = "word"  # or "token"

    @property
    def size(self) -> str:
        """Its length with the unit: words, or tokens or lines of a program."""
        count, unit = (self.words, self.unit) if self.lines is None else (self.lines, "line")
        return f"1 {unit}" if count == 1 else f"{count:,} {unit}s"


def numbered_passages(
    a: str, passages: Sequence[Passage], scheme: Scheme = Scheme(), *, name: str | None = None
) -> list[NumberedPassage]:
    """Number the passages of text `a`, which come in its order. With a scheme for code, `name` tells its language."""
    unmoved = longest_non_decreasing([passage.other_start for passage in passages])
    unit, tokens = "word", array("I")
    if scheme.form == "code" and passages:
        unit, tokens = "token", canonical(a, scheme, name=name).offsets
    numbered = []
    for number, passage in enumerate(passages, 1):
        if unit == "token":
            size = bisect_left(tokens, passage.end) - bisect_left(tokens, passage.start)
        else:
            size = len(canonical_text(a[passage.start : passage.end]).words)
        numbered.append(NumberedPassage(number, passage, size, number - 1 not in unmoved, unit=unit))
    return numbered


def longest_non_decreasing(starts: Sequence[int]) -> set[int]:
    """Return the indices of a longest non-decreasing subsequence: the rest is the fewest that can have moved."""
    tails: list[int] = []  # the smallest start that ends a subsequence of each length
    ends: list[int] = []  # the index of that start
    before: list[int] = []  # for each index, the previous one in its subsequence
    for index, start in enumerate(starts):
        length = bisect_right(tails, start)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [start]
        ends[length : length + 1] = [index]
    indices = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        indices.add(index)
        index = before[index]
    return indices
