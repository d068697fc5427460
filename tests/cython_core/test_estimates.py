from __future__ import annotations

import pickle
from array import array
from random import Random
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.estimates import (
    Estimate,
    min_resemblance,
    minhash_resemblance,
    minhash_resemblances,
    mod_containment,
    mod_resemblance,
    mod_share,
)
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.sketches import min_sketch, mod_sketch
from tests.cython_core import reference
from tests.refused import refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    Page: TypeAlias = array[int]

PAIRS = 10_000

hashes = st.one_of(st.integers(0, 60), st.integers(0, 2**64 - 1))
sets = st.sets(hashes, max_size=40).map(lambda values: array("Q", sorted(values)))
signatures = st.integers(0, 300).flatmap(lambda size: st.tuples(*[st.binary(min_size=size, max_size=size)] * 2))
widths = st.sampled_from([1, 2, 4, 8, 16])


def close(estimate: Estimate, expected: tuple[float, float], within: float = 1e-12) -> bool:
    return all(abs(x - y) <= within for x, y in zip(estimate, expected, strict=True))


# --- the compiled estimates are those of the reference ----------------------------------------------------------------


@given(sets, sets, st.one_of(st.integers(1, 9), st.integers(1, 2**64 - 1)))
@example(array("Q"), array("Q"), 1)
@example(array("Q", [3]), array("Q"), 3)
def test_mod_is_reference(a: Page, b: Page, modulus: int) -> None:
    assert close(mod_resemblance(a, b, modulus), reference.mod_resemblance(a, b, modulus))
    assert close(mod_containment(a, b, modulus), reference.mod_containment(a, b, modulus))
    assert mod_resemblance(a, b, modulus) == mod_resemblance(b, a, modulus)


@given(sets, sets, st.integers(1, 9))
def test_mod_estimates_from_counts_are_those_from_sketches(a: Page, b: Page, modulus: int) -> None:
    ours, theirs = mod_sketch(a, modulus), mod_sketch(b, modulus)
    shared = len({*ours} & {*theirs})
    either = len(ours) + len(theirs) - shared
    assert close(mod_share(shared, either, modulus), reference.mod_share(shared, either, modulus))
    assert mod_share(shared, either, modulus) == mod_resemblance(ours, theirs, modulus)
    assert mod_share(shared, len(ours), modulus) == mod_containment(ours, theirs, modulus)


@given(sets, sets, st.integers(1, 50))
def test_min_is_reference(a: Page, b: Page, size: int) -> None:
    a, b = min_sketch(a, size), min_sketch(b, size)
    assert close(min_resemblance(a, b, size), reference.min_resemblance(a.tolist(), b.tolist(), size))
    assert min_resemblance(a, b, size) == min_resemblance(b, a, size)


@given(signatures, widths, st.randoms(use_true_random=False))
def test_minhash_is_reference(pair: tuple[bytes, bytes], bits: int, random: Random) -> None:
    a, b = pair
    b = bytes(random.choice(both) for both in zip(a, b, strict=True))  # makes many bins equal
    if len(a) * 8 % bits:
        a, b = a[:-1], b[:-1]
    assert close(minhash_resemblance(a, b, bits), reference.minhash_resemblance(a, b, bits))
    assert minhash_resemblance(a, b, bits) == minhash_resemblance(b, a, bits)


@given(st.integers(1, 40).map(lambda words: 2 * words), st.integers(0, 5), widths, st.integers(0, 2**32))
def test_many_resemblances_are_those_of_single_calls(size: int, count: int, bits: int, seed: int) -> None:
    random = Random(seed)
    a, many = random.randbytes(size), [random.randbytes(size) for _ in range(count)]
    expected = [minhash_resemblance(a, b, bits).value for b in many]
    assert minhash_resemblances(a, memoryview(b"".join(many)), bits).tolist() == pytest.approx(expected)


# --- exact values and errors ------------------------------------------------------------------------------------------


def test_a_sample_is_never_certain_and_an_estimate_may_be_below_zero() -> None:
    sample, other = array("Q", range(0, 800, 8)), array("Q", range(800, 1_600, 8))
    assert close(mod_resemblance(sample, sample, 8), (1.0, 0.0091), within=1e-4)
    assert close(mod_containment(sample, other, 8), (0.0, 0.0091), within=1e-4)
    assert close(minhash_resemblance(bytes(512), bytes(512)), (1.0, 1 / 1024 / (15 / 16)), within=1e-5)
    assert minhash_resemblance(b"\x00" * 512, b"\x11" * 512).value == pytest.approx(-1 / 15)


def test_two_scales_are_compared_at_the_coarser() -> None:
    page = array("Q", Random(1).randbytes(8 * 1_000))
    fine, coarse = mod_sketch(page[:700], 4), mod_sketch(page, 8)
    assert mod_resemblance(fine, coarse, 8) == mod_resemblance(mod_sketch(fine, 8), coarse, 8)
    assert mod_containment(fine, coarse, 8).value == 1.0


def test_an_estimate_is_a_plain_tuple() -> None:
    estimate = Estimate(0.5, 0.1)
    assert estimate == (0.5, 0.1)
    assert pickle.loads(pickle.dumps(estimate)) == estimate


def test_errors_name_what_was_expected() -> None:
    sketch, three = array("Q", [8]), array("Q", [1, 2, 3])
    refused(TypeError, r"mod_resemblance\(\) expects an array of 64-bit .* got list", mod_resemblance, [8], sketch, 8)
    refused(TypeError, "float", mod_containment, sketch, sketch, 2.5)
    refused(ValueError, r"mod_containment\(\) expects a modulus from 1 to .* got 0", mod_containment, sketch, sketch, 0)
    refused(ValueError, "at most 2 shingles, got 3 and 1", min_resemblance, three, sketch, 2)
    refused(ValueError, "of the same size, got 2 and 4 bytes", minhash_resemblance, bytes(2), bytes(4))
    refused(ValueError, "1, 2, 4, 8 or 16 bits per bin, not 5", minhash_resemblance, bytes(2), bytes(2), 5)
    refused(ValueError, "whole bins of 16 bits, got 3 bytes", minhash_resemblance, bytes(3), bytes(3), 16)
    refused(TypeError, "got str", minhash_resemblance, "", b"")
    refused(ValueError, "MinHashes of 4 bytes each, got 6 bytes", minhash_resemblances, bytes(4), bytes(6))
    refused(TypeError, "MinHashes as bytes, got list", minhash_resemblances, bytes(4), [bytes(4)])
    for shared, size in ((-1, 3), (4, 3), (0, -1)):
        refused(ValueError, f"0 to {size} shared shingles, got {shared}", mod_share, shared, size, 25)
    refused(ValueError, "a modulus of 1 or more, got 0", mod_share, 1, 3, 0)


# --- estimates are unbiased, with the claimed error -------------------------------------------------------------------


def pairs(union: int, common: int) -> Iterator[tuple[Page, Page]]:
    """Yield pairs of pages of random shingles; shingles they do not share go to one and the other in turn."""
    random = Random(1997)
    for _ in range(PAIRS):
        shingles = array("Q", random.randbytes(8 * union))
        yield shingles[:common] + shingles[common::2], shingles[:common] + shingles[common + 1 :: 2]


def true_error(estimates: Iterable[Estimate], truth: float) -> float:
    """Assert that the estimates are unbiased within noise; return the ratio of their true error to the claimed one."""
    known = list(estimates)
    values = [estimate.value for estimate in known]
    deviation = pstdev(values)
    assert abs(fmean(values) - truth) <= 4 * deviation / len(values) ** 0.5
    return deviation / fmean(estimate.error for estimate in known)


@pytest.mark.check
@pytest.mark.parametrize("common", [40, 400, 720])
def test_errors_of_mod_and_min(common: int) -> None:
    union, modulus, size = 800, 8, 100
    pages = list(pairs(union, common))
    sketches = [(mod_sketch(a, modulus), mod_sketch(b, modulus)) for a, b in pages]
    # With a sample of 100, the claimed error is slightly too large near 0 and 1.
    assert 0.85 < true_error((mod_resemblance(a, b, modulus) for a, b in sketches), common / union) < 1.05
    contained = common / ((union + common) // 2)
    assert 0.85 < true_error((mod_containment(a, b, modulus) for a, b in sketches), contained) < 1.05
    estimates = (min_resemblance(min_sketch(a, size), min_sketch(b, size), size) for a, b in pages)
    assert 0.85 < true_error(estimates, common / union) < 1.05


@pytest.mark.check
@pytest.mark.parametrize("common", [0, 160, 800, 1_440])
def test_errors_of_minhash(common: int) -> None:
    """With many more shingles than bins, the bins are independent, as the claimed error assumes."""
    union, bins = 1_600, 64
    hashes = [(minhash(a, bins), minhash(b, bins)) for a, b in pairs(union, common)]
    for bits in (1, 4, 8):
        estimates = (minhash_resemblance(pack(a, bits), pack(b, bits), bits) for a, b in hashes)
        error = true_error(estimates, common / union)
        assert error < 1.05
        assert error > 0.85 or common == 0  # if hardly a bin is equal, the claim may be larger


@pytest.mark.check
@pytest.mark.parametrize(("union", "common"), [(60, 30), (140, 70), (400, 200), (400, 360), (1_500, 750)])
def test_errors_of_minhash_for_typical_pages(union: int, common: int) -> None:
    """With few more shingles than bins, the true error is smaller, since a round takes no shingle twice."""
    estimates = (minhash_resemblance(pack(minhash(a)), pack(minhash(b))) for a, b in pairs(union, common))
    assert 0.7 < true_error(estimates, common / union) < 1.05
