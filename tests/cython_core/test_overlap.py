from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import accumulate, product
from math import isnan

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.overlap import difference, matching_runs, overlap, pair_resemblances
from tests.cython_core import reference
from tests.refused import refused

LARGEST = 2**64 - 1
# Few values, so that sets overlap, at both ends of the range.
values = st.one_of(st.integers(0, 300), st.integers(LARGEST - 300, LARGEST))


def sorted_array(numbers: set[int]) -> array[int]:
    return array("Q", sorted(numbers))


@given(st.sets(values), st.sets(values))
def test_compiled_is_reference(a: set[int], b: set[int]) -> None:
    ours, theirs = sorted_array(a), sorted_array(b)
    assert overlap(ours, theirs) == reference.overlap(a, b)
    assert difference(ours, theirs) == array("Q", reference.difference(a, b))
    assert (ours, theirs) == (sorted_array(a), sorted_array(b))


@given(st.sets(values, max_size=12), st.integers(400, 3_000), st.integers(1, 10**15))
@example({0}, 400, 1)
@example({399}, 400, 1)
@example({LARGEST}, 400, 1)
@example(set(), 400, 1)
def test_galloping_is_reference(few: set[int], count: int, step: int) -> None:
    many = set(range(0, count * step, step))
    few |= set(sorted(many)[:: count // 5])
    for a, b in ((few, many), (many, few)):
        assert overlap(sorted_array(a), sorted_array(b)) == reference.overlap(a, b)
        assert difference(sorted_array(a), sorted_array(b)) == array("Q", reference.difference(a, b))


@given(st.lists(st.sets(values) | st.sets(st.integers(0, 5)), max_size=6))
@example([set(range(1_000)), {0, 999}, set()])
def test_pair_resemblances(sets: list[set[int]]) -> None:
    joined = array("Q", [value for each in sets for value in sorted(each)])
    counts = array("I", map(len, sets))
    starts = array("Q", [0, *accumulate(counts)][: len(sets)])
    pairs = list(product(range(len(sets)), repeat=2))
    found = pair_resemblances(array("Q", [a << 32 | b for a, b in pairs]), joined, starts, counts)
    for (a, b), resemblance in zip(pairs, found, strict=True):
        if sets[a] and sets[b]:
            assert resemblance == len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        else:
            assert isnan(resemblance)


def test_pair_resemblances_rejects_sets_out_of_range() -> None:
    none, values, starts, counts = array("Q"), array("Q", [1, 2, 3]), array("Q", [0, 1]), array("I", [1, 2])
    assert pair_resemblances(array("Q", [1]), values, starts, counts).tolist() == [0]
    for a, b in ((0, 2), (2, 0), (2**32 - 1, 1)):
        pair = array("Q", [a << 32 | b])
        refused(ValueError, f"the pair {a}, {b} is not of the 2 sets", pair_resemblances, pair, values, starts, counts)
    refused(ValueError, "each of 2 starts, got 1", pair_resemblances, none, values, starts, array("I", [1]))
    for start, count in ((1, 3), (4, 0), (4, 1), (LARGEST, 2)):
        beyond = array("Q", [0, start]), array("I", [1, count])
        refused(ValueError, "has 3 values, and set 1 ends beyond them", pair_resemblances, none, values, *beyond)
    refused(
        TypeError, r"pair_resemblances\(\) expects an array of 32-bit", pair_resemblances, none, values, starts, starts
    )


@given(st.lists(st.integers(0, 20), max_size=40), st.sets(st.integers(0, 20)))
def test_matching_runs_of_values_in_any_order(values: list[int], known: set[int]) -> None:
    assert matching_runs(array("Q", values), sorted_array(known)) == reference.matching_runs(values, known)


@given(st.lists(values, max_size=20), st.sets(values))
@example([0, LARGEST], {0, LARGEST})
@example([LARGEST], set())
def test_matching_runs_at_the_ends_of_the_range(some: list[int], known: set[int]) -> None:
    assert matching_runs(array("Q", some), sorted_array(known)) == reference.matching_runs(some, known)


def test_finds_one_value_wherever_it_is() -> None:
    many = array("Q", range(1, 3_000, 3))
    for at in (0, 1, 500, 998, 999):
        assert (overlap(many[at : at + 1], many), overlap(array("Q", [many[at] + 1]), many)) == (1, 0)


def test_takes_any_buffer_of_the_right_type_and_returns_a_new_array() -> None:
    numbers = array("Q", [1, 5, 9])
    assert overlap(memoryview(numbers)[1:], memoryview(numbers.tobytes()).cast("Q")) == 2
    assert difference(memoryview(numbers), memoryview(numbers)[1:]) == array("Q", [1])
    assert difference(numbers, array("Q")) == numbers
    assert difference(numbers, array("Q")) is not numbers


@pytest.mark.parametrize("expects", [overlap, difference, matching_runs])
def test_errors_name_what_was_expected(expects: Callable[[object, object], object]) -> None:
    for wrong, named in (([1, 2], "list"), (array("I", [1]), "an array of typecode 'I'"), (b"12345678", "bytes")):
        refused(TypeError, rf"{expects.__name__}\(\) expects .*typecode 'Q'.*got {named}", expects, wrong, array("Q"))
        refused(TypeError, f"got {named}", expects, array("Q"), wrong)
    refused(TypeError, "got NoneType", expects, None, array("Q"))
    refused(TypeError, "got NoneType", expects, array("Q"), None)
