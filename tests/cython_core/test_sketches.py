from __future__ import annotations

from array import array
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.sketches import distinct, min_sketch, mod_sketch, sketch_scale
from tests.cython_core import reference
from tests.refused import refused

LARGEST = 2**64 - 1
numbers = st.one_of(st.integers(0, LARGEST), st.integers(0, 300), st.integers(LARGEST - 300, LARGEST))
lists = st.lists(numbers, max_size=200)


@given(lists)
def test_distinct_is_reference(shingles: list[int]) -> None:
    assert distinct(array("Q", shingles)).tolist() == reference.distinct(shingles)


@given(lists, st.one_of(st.integers(1, 40), st.integers(1, LARGEST), st.integers(0, 63).map(lambda i: 2**i)))
def test_mod_sketch_is_reference(shingles: list[int], modulus: int) -> None:
    assert mod_sketch(array("Q", shingles), modulus).tolist() == reference.mod_sketch(shingles, modulus)


@given(lists, st.integers(1, 250))
def test_min_sketch_is_reference(shingles: list[int], size: int) -> None:
    assert min_sketch(array("Q", shingles), size).tolist() == reference.min_sketch(shingles, size)


# Insertion sort gives up on small numbers that come downwards: they are equal in their top bytes.
KINDS: dict[str, Callable[[array[int], int], array[int]]] = {
    "hashes": lambda hashes, _: hashes,
    "hashes, twice": lambda hashes, count: hashes[: count // 2] + hashes[: count - count // 2],
    "small numbers, downwards": lambda _, count: array("Q", range(count, 0, -1)),
    "large and small numbers": lambda hashes, _: array("Q", [value >> 8 * (i % 8) for i, value in enumerate(hashes)]),
    "one number": lambda _, count: array("Q", [7]) * count,
}


@pytest.mark.parametrize("count", [31, 32, 33, 1_000, 65_535, 65_536, 200_000])
@pytest.mark.parametrize("made_of", KINDS)
def test_any_values_are_sorted(made_of: str, count: int) -> None:
    shingles = KINDS[made_of](array("Q", Random(count).randbytes(8 * count)), count)
    before = shingles.tolist()
    assert distinct(shingles).tolist() == reference.distinct(before)
    assert shingles.tolist() == before  # the argument is unchanged


@given(lists, st.integers(0, 6), st.integers(0, 6))
def test_a_coarser_sketch_comes_from_a_finer_one(shingles: list[int], i: int, steps: int) -> None:
    page = array("Q", shingles)
    assert mod_sketch(mod_sketch(page, 2**i), 2 ** (i + steps)) == mod_sketch(page, 2 ** (i + steps))


@given(st.integers(0, 10**9))
def test_scale_is_reference(count: int) -> None:
    assert sketch_scale(count) == reference.sketch_scale(count)


def test_scale_at_its_steps() -> None:
    assert [sketch_scale(count) for count in (0, 99, 100, 199, 200, 399, 400, 102_400)] == [0, 0, 0, 0, 1, 1, 2, 10]


def test_errors_name_what_was_expected() -> None:
    page = array("Q", [1])
    refused(TypeError, r"distinct\(\) expects an array of 64-bit unsigned integers .* got list", distinct, [1])
    refused(TypeError, r"mod_sketch\(\) expects .* got an array of typecode 'I'", mod_sketch, array("I", [1]), 2)
    refused(TypeError, "float", mod_sketch, page, 2.5)
    for modulus in (0, -1, 2**64):
        refused(ValueError, rf"mod_sketch\(\) expects a modulus .* got {modulus}", mod_sketch, page, modulus)
    refused(ValueError, r"min_sketch\(\) expects a size of at least 1, got 0", min_sketch, page, 0)
    refused(ValueError, r"sketch_scale\(\) expects .* got -1", sketch_scale, -1)
