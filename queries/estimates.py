"""Estimates resemblance and containment from the sketches of two pages, without their texts."""

from __future__ import annotations

from typing import NamedTuple

from opensearch_winnow.cython_core.estimates import (
    Estimate,
    minhash_resemblance,
    mod_containment,
    mod_resemblance,
    mod_share,
)
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.scores import Score, Scores, Sketches

# A text with fewer shingles has no more words than one shingle, or repeats a single word. That is too little evidence:
# two reports that read "Goal!" are not copies if their titles differ. So such a text is a copy of another only if words
# and title are the same. Among 6,292 real pages, 31 share such a short text with another page; all 31 also have the
# same title, or both have none. In an attached index a missing title is unknown, so such a text has no copies.
MIN_SHINGLES = 2
CLEAR_ERRORS = 5  # an estimate that is this many standard errors away from a threshold decides without the texts


class Estimates(NamedTuple):
    """Estimates of the three scores of two pages."""

    resemblance: Estimate
    containment: Estimate
    contained: Estimate

    @property
    def scores(self) -> Scores:
        """The estimated values, without their errors."""
        return Scores(*(each.value for each in self))

    def error(self, score: Score) -> float:
        """Return the standard error of a score."""
        estimate: Estimate = getattr(self, score)
        return estimate.error


def estimate_scores(a: Sketches, b: Sketches, scheme: Scheme) -> Estimates:
    """Estimate how A compares with B: each score from MOD_m or from MinHash, whichever has the smaller error."""
    by_mod = (
        mod_resemblance(a.sketch, b.sketch, scheme.modulus),
        mod_containment(a.sketch, b.sketch, scheme.modulus),
        mod_containment(b.sketch, a.sketch, scheme.modulus),
    )
    by_minhash = estimate_by_minhash(a, b, scheme)
    return Estimates(*(min(each, key=lambda estimate: estimate.error) for each in zip(by_mod, by_minhash, strict=True)))


def estimate_by_counts(shared: int, a: int, b: int, scheme: Scheme) -> Estimates:
    """Estimate from the sizes `a` and `b` of two MOD_m sketches, and the number of `shared` shingles.

    `shared` may be an upper bound, even one above `a` or `b`: the estimates are then upper bounds, too.
    """
    shared = min(shared, a, b)
    return Estimates(*(mod_share(shared, size, scheme.modulus) for size in (a + b - shared, a, b)))


def estimate_by_minhash(a: Sketches, b: Sketches, scheme: Scheme) -> Estimates:
    """Estimate from MinHash: with the exact sizes of A and B, the resemblance r gives the shared shingles.

    |A ∩ B| = (|A| + |B|) r / (1 + r)
    """
    if not (a.minhash and b.minhash and a.shingle_count and b.shingle_count):
        unknown = Estimate(0.0, 1.0)
        return Estimates(unknown, unknown, unknown)
    value, error = minhash_resemblance(a.minhash, b.minhash, scheme.bits)
    max_resemblance = min(a.shingle_count, b.shingle_count) / max(a.shingle_count, b.shingle_count)
    r = min(max(value, 0.0), max_resemblance)
    sizes = a.shingle_count + b.shingle_count
    shared, shared_error = sizes * r / (1 + r), sizes * error / (1 + r) ** 2
    return Estimates(
        Estimate(r, error),
        Estimate(min(shared / a.shingle_count, 1.0), shared_error / a.shingle_count),
        Estimate(min(shared / b.shingle_count, 1.0), shared_error / b.shingle_count),
    )
