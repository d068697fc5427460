"""What to look up for a question: as little as finds every page that it asks for."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache
from math import exp, lgamma, log
from typing import Literal, NamedTuple

from opensearch_winnow.queries.asked import Asked
from opensearch_winnow.queries.question import Question

# The chance of a page to be missed by the sample of shingles: where it is higher, that is not looked up alone.
MISSED = 1e-4


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
        yield Lookup("sketch", sketch, max(fewest(len(sketch), share), 1))
    if asked.minima.get("resemblance"):
        yield Lookup("bands", question.record.bands)
    if (1 - share) ** len(sketch) > MISSED:
        yield Lookup("fingerprints", question.fingerprints)


@cache
def fewest(size: int, share: float) -> int:
    """How many of a sample are shared by a page that shares so much of all: fewer are, by a chance below MISSED."""
    if not 0 < share < 1:
        return size if share else 0
    chance = 0.0
    for count in range(size):
        ways = lgamma(size + 1) - lgamma(count + 1) - lgamma(size - count + 1)
        chance += exp(ways + count * log(share) + (size - count) * log(1 - share))
        if chance > MISSED:
            return count
    return size
