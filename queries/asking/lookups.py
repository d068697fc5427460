"""Chooses the tokens to look up for a question: the fewest that find every match."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache
from math import exp, lgamma, log
from typing import Literal, NamedTuple

from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds

# The highest acceptable probability that the sketch, a sample of the shingles, misses a match.
MISS_PROBABILITY = 1e-4


Field = Literal["fingerprints", "sketch", "bands"]


class Lookup(NamedTuple):
    """Tokens to look up in one field of the pages."""

    field: Field
    tokens: array[int]  # typecode 'Q', without repeats
    minimum: int = 1  # the number of tokens that a page must share
    most: int | None = None  # the number of pages to find, by shared tokens; None: all


def lookups(
    question: Question, thresholds: Thresholds, *, boilerplate: bool, most: int | None = None
) -> Iterator[Lookup]:
    """Yield the lookups that find every page that meets the thresholds.

    The sketch is a fair sample: a page with half of the question has about half of its sketch. The fingerprints, which
    are several times as many, are looked up where the sketch is too small, or where one shared passage is enough.

    `boilerplate` is true if some is excluded. The rest of the question is then a sample of unknown size, so one shared
    token is enough. `most` limits the pages of a question for any passage.
    """
    sketch = question.sketched.sketch
    n, p = len(sketch), 0.0 if boilerplate else thresholds.min_containment
    if not thresholds.any_passage and sketch:
        yield Lookup("sketch", sketch, max(binomial_quantile(n, p), 1))
    if thresholds.minima.get("resemblance"):
        yield Lookup("bands", question.record.hashes.bands)
    if (1 - p) ** n > MISS_PROBABILITY:
        yield Lookup("fingerprints", question.fingerprints, most=most if thresholds.any_passage else None)


@cache
def binomial_quantile(n: int, p: float) -> int:
    """Return the largest k with P(X < k) <= MISS_PROBABILITY, where X is binomial with parameters `n` and `p`.

    So a page with the share `p` of all shingles has at least k of a sample of `n`, except with that probability.
    """
    if not 0 < p < 1:
        return n if p else 0
    cumulative = 0.0  # P(X <= k)
    for k in range(n):
        log_choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        cumulative += exp(log_choose + k * log(p) + (n - k) * log(1 - p))
        if cumulative > MISS_PROBABILITY:
            return k
    return n
