"""Resemblance and containment from what is stored beside a text, without the text."""

from __future__ import annotations

from array import array
from math import sqrt
from typing import NamedTuple

from opensearch_winnow.cython_core.estimates import Estimate, minhash_resemblance, mod_containment, mod_resemblance
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Scores
from opensearch_winnow.queries.matches import Score

CLEAR = 5  # standard errors: an estimate so far from a threshold decides alone


class Sketched(NamedTuple):
    """A page, as its sketches know it."""

    shingle_count: int
    sketch: array[int]
    minhash: bytes = b""  # empty where it does not speak for the page: boilerplate cannot be taken out of it


NO_SKETCHES = Sketched(0, array("Q"))


class Estimated(NamedTuple):
    resemblance: Estimate
    containment: Estimate
    contained: Estimate

    @property
    def scores(self) -> Scores:
        return Scores(*(each.value for each in self))

    def error(self, score: Score) -> float:
        estimate: Estimate = getattr(self, score)
        return estimate.error


def estimated(a: Sketched, b: Sketched, scheme: Scheme) -> Estimated:
    """How A compares with B: of two estimates, from MOD_m and from MinHash, the one with the smaller error."""
    by_mod = (
        mod_resemblance(a.sketch, b.sketch, scheme.modulus),
        mod_containment(a.sketch, b.sketch, scheme.modulus),
        mod_containment(b.sketch, a.sketch, scheme.modulus),
    )
    by_minhash = _by_minhash(a, b, scheme)
    return Estimated(*(min(each, key=lambda estimate: estimate.error) for each in zip(by_mod, by_minhash, strict=True)))


def estimated_by_counts(shared: int, a: int, b: int, scheme: Scheme) -> Estimated:
    """From MOD_m alone, whose sketches of A and B have so many shingles, and so many in common."""
    return Estimated(*(_share(shared, size, scheme) for size in (a + b - shared, a, b)))


def _share(x: int, n: int, scheme: Scheme) -> Estimate:
    """As cython_core.estimates has it."""
    if n <= 0:
        return Estimate(0.0, 1.0)
    p = (x + 1) / (n + 2)
    return Estimate(x / n, sqrt(p * (1 - p) / (n + 3) * (1 - 1 / scheme.modulus)))


def _by_minhash(a: Sketched, b: Sketched, scheme: Scheme) -> tuple[Estimate, Estimate, Estimate]:
    """The number of shingles is known exactly, so that the resemblance r tells the shared ones: r / (1 + r) of both."""
    if not (a.minhash and b.minhash and a.shingle_count and b.shingle_count):
        unknown = Estimate(0.0, 1.0)
        return unknown, unknown, unknown
    value, error = minhash_resemblance(a.minhash, b.minhash, scheme.bits)
    most = min(a.shingle_count, b.shingle_count) / max(a.shingle_count, b.shingle_count)
    r = min(max(value, 0.0), most)
    both = a.shingle_count + b.shingle_count
    shared, shared_error = both * r / (1 + r), both * error / (1 + r) ** 2
    return (
        Estimate(r, error),
        Estimate(min(shared / a.shingle_count, 1.0), shared_error / a.shingle_count),
        Estimate(min(shared / b.shingle_count, 1.0), shared_error / b.shingle_count),
    )
