"""What to look up for a question: as little as finds every page that it asks for."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import sqrt
from typing import Literal, NamedTuple

from opensearch_winnow.queries.asked import Asked
from opensearch_winnow.queries.question import Question

MISSED = 1e-4  # the chance of a page to be missed at which the sample of shingles is large enough to be looked up alone
SPREAD = 5  # standard deviations that a sample may fall short by


Field = Literal["fingerprints", "sketch", "bands"]


class Lookup(NamedTuple):
    field: Field
    tokens: array[int]  # 'Q', different ones
    minimum: int = 1  # that a page shares


def lookups(question: Question, asked: Asked, *, boilerplate: bool) -> Iterator[Lookup]:
    """The sketch is a fair sample: who has half of the question has about half of its sketch. Where that is too small,
    or where a passage is all that is asked for, the fingerprints are looked up; they are several times as many.

    Where `boilerplate` is taken out, the rest of the question is another sample: then one shared token is enough.
    """
    sketch = question.sketched.sketch
    share = 0.0 if boilerplate else asked.of_question
    if not asked.any_passage and sketch:
        yield Lookup("sketch", sketch, _at_least(len(sketch), share))
    if asked.minima.get("resemblance"):
        yield Lookup("bands", question.record.bands)
    if (1 - share) ** len(sketch) > MISSED:
        yield Lookup("fingerprints", question.fingerprints)


def _at_least(size: int, share: float) -> int:
    """How many of a sample are shared by a page that shares so much of all."""
    return max(1, int(size * share - SPREAD * sqrt(size * share * (1 - share))))
