from __future__ import annotations

from array import array
from random import Random

import pytest

from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.estimates import estimate_by_counts, estimate_scores
from opensearch_winnow.queries.scores import Sketches

SCHEME = Scheme()


def page(shingles: array[int]) -> Sketches:
    packed = pack(minhash(shingles, SCHEME.bins), SCHEME.bits)
    return Sketches(len(shingles), mod_sketch(shingles, SCHEME.modulus), packed)


def sets(seed: int, ours: int, theirs: int, shared: int) -> tuple[array[int], array[int]]:
    random = Random(seed)
    every = [random.getrandbits(64) for _ in range(ours + theirs - shared)]
    return distinct(array("Q", every[:ours])), distinct(array("Q", every[ours - shared :]))


@pytest.mark.parametrize(
    ("ours", "theirs", "shared"), [(300, 300, 200), (100, 3000, 90), (3000, 100, 90), (20, 25, 15)]
)
def test_estimates_are_about_right_and_know_how_much(ours: int, theirs: int, shared: int) -> None:
    off: dict[str, list[float]] = {"resemblance": [], "containment": [], "contained": []}
    for seed in range(60):
        a, b = sets(seed, ours, theirs, shared)
        assert overlap(a, b) == shared
        truth = shared / (ours + theirs - shared), shared / ours, shared / theirs
        found = estimate_scores(page(a), page(b), SCHEME)
        for name, value in zip(off, truth, strict=True):
            estimate = getattr(found, name)
            assert 0 <= estimate.value <= 1
            off[name].append((estimate.value - value) / estimate.error)
    for errors in off.values():
        assert max(map(abs, errors)) < 5  # of 60; an estimate five errors away decides alone
        assert abs(sum(errors)) / len(errors) < 0.6  # and not all to one side


def test_without_a_minhash_the_sketch_or_its_counts_speak() -> None:
    a, b = sets(1, 5000, 5000, 2500)
    with_both = estimate_scores(page(a), page(b), SCHEME)
    sketch_only = estimate_scores(page(a)._replace(minhash=b""), page(b), SCHEME)
    assert sketch_only.resemblance.error > with_both.resemblance.error
    assert sketch_only.resemblance.value == pytest.approx(1 / 3, abs=5 * sketch_only.resemblance.error)
    nothing = Sketches(0, array("Q"), b"")
    assert estimate_scores(nothing, page(sets(1, 50, 50, 0)[0]), SCHEME).containment == (0, 1)
    one, other = (page(shingles)._replace(minhash=b"") for shingles in sets(3, 900, 700, 400))
    counts = overlap(one.sketch, other.sketch), len(one.sketch), len(other.sketch)
    assert estimate_by_counts(*counts, SCHEME) == estimate_scores(one, other, SCHEME)


@pytest.mark.parametrize(("a", "b"), [(80, 10), (10, 80), (80, 0), (0, 0)])
def test_a_bound_on_the_shared_shingles_may_be_above_the_size_of_a_sketch(a: int, b: int) -> None:
    """A page that the lookup of the sketch has not found shares fewer shingles than it asks for; it may have fewer."""
    estimates = estimate_by_counts(25, a, b, SCHEME)
    assert estimates == estimate_by_counts(min(a, b), a, b, SCHEME)
    assert all(0 <= each.value <= 1 and 0 <= each.error <= 1 for each in estimates)


def test_thresholds_that_may_be_met() -> None:
    a, b = sets(2, 1000, 1000, 500)
    found = estimate_scores(page(a), page(b), SCHEME)  # true resemblance 1/3
    assert Thresholds({"resemblance": 0.3}).may_be_met_by(found, 5)
    assert Thresholds({"resemblance": 0.4}).may_be_met_by(found, 5)
    assert not Thresholds({"resemblance": 0.6}).may_be_met_by(found, 5)
    assert not Thresholds({"containment": 0.1, "resemblance": 0.6}).may_be_met_by(found, 5)
