from __future__ import annotations

from array import array
from random import Random

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from tests.cython_core import reference
from tests.refused import refused

hashes = st.integers(0, 2**64 - 1)
pages = st.lists(hashes, max_size=60)


def pair(random: Random, union: int, common: int) -> tuple[array[int], array[int]]:
    """Return two pages of random shingles; shingles they do not share go to one and the other in turn."""
    shingles = array("Q", random.randbytes(8 * union))
    return shingles[:common] + shingles[common::2], shingles[:common] + shingles[common + 1 :: 2]


@given(pages, st.one_of(st.integers(1, 100), st.sampled_from([128, 256])))
@example([0], 40)
@example([2**64 - 1], 40)
@example([1, 2, 3], 33)
def test_minhash_is_reference(shingles: list[int], bins: int) -> None:
    assert minhash(array("Q", shingles), bins).tolist() == reference.minhash(shingles, bins)


@pytest.mark.parametrize("count", [1, 10, 300, 3_000, 20_000])
def test_minhash_is_reference_at_its_default(count: int) -> None:
    shingles = array("Q", Random(count).randbytes(8 * count))
    assert minhash(shingles).tolist() == reference.minhash(shingles.tolist())


@given(st.lists(hashes, min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_order_and_repeats_change_nothing(shingles: list[int], random: Random) -> None:
    other = shingles + random.choices(shingles, k=5)
    random.shuffle(other)
    assert minhash(array("Q", shingles), 64) == minhash(array("Q", other), 64)


@given(st.lists(hashes, max_size=8).map(lambda values: values * 8), st.sampled_from([1, 2, 4, 8, 16]))
def test_pack_is_reference(values: list[int], bits: int) -> None:
    packed = pack(array("Q", values), bits)
    assert packed == reference.pack(values, bits)
    assert len(packed) == len(values) * bits // 8


@given(st.lists(hashes, min_size=24, max_size=30), st.integers(1, 6), st.integers(1, 4))
@example([], 6, 4)
def test_bands_are_reference(values: list[int], count: int, rows: int) -> None:
    assert bands(array("Q", values), count, rows).tolist() == reference.bands(values, count, rows)


@pytest.mark.parametrize("union", [100, 1_000])
@pytest.mark.parametrize("resemblance", [0.3, 0.5, 0.7])
def test_two_pages_share_a_band_as_often_as_the_curve_says(resemblance: float, union: int) -> None:
    count, rows, pairs = 20, 5, 4_000
    random = Random(union)
    met = 0
    for _ in range(pairs):
        a, b = (bands(minhash(page, 128), count, rows) for page in pair(random, union, round(resemblance * union)))
        met += not set(a).isdisjoint(b)
    curve = 1 - (1 - resemblance**rows) ** count
    noise = (curve * (1 - curve) / pairs) ** 0.5
    assert abs(met / pairs - curve) <= 4 * noise + 0.01


def test_errors_name_what_was_expected() -> None:
    values = minhash(array("Q", [1]), 16)
    refused(TypeError, r"minhash\(\) expects an array of 64-bit .* got list", minhash, [1])
    refused(TypeError, "float", minhash, values, 16.5)
    for bins in (0, 65_537):
        refused(ValueError, f"1 to 65536 bins, got {bins}", minhash, values, bins)
    refused(ValueError, "1, 2, 4, 8 or 16 bits per bin, not 3", pack, values, 3)
    refused(ValueError, "15 bins of 4 bits are not", pack, values[:15], 4)
    refused(ValueError, "6 bands of 3 rows from 16 bins", bands, values, 6, 3)
    for count, rows in ((0, 1), (1, 0)):
        refused(ValueError, "at least 1 band of at least 1 row", bands, values, count, rows)
