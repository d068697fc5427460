from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import accumulate, product
from math import isnan

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.overlap import difference, matching_runs, overlap, pair_resemblances
from tests.cython_core import reference

LARGEST = 2**64 - 1
# Few values, so that sets overlap, at both ends of the range.
values = st.one_of(st.integers(0, 300), st.integers(LARGEST - 300, LARGEST))


def sorted_array(numbers: set[int]) -> array[int]:
    return array("Q", sorted(numbers))


@given(st.sets(values), st.sets(values))
def test_overlap_is_reference(a: set[int], b: set[int]) -> None:
    assert overlap(sorted_array(a), sorted_array(b)) == reference.overlap(a, b)


@given(st.sets(values, max_size=12), st.integers(400, 3_000), st.integers(1, 10**15))
@example({0}, 400, 1)
@example({LARGEST}, 400, 1)
def test_galloping_overlap_is_reference(few: set[int], count: int, step: int) -> None:
    many = set(range(0, count * step, step))
    few |= set(sorted(many)[:: count // 5])
    assert overlap(sorted_array(few), sorted_array(many)) == reference.overlap(few, many)
    assert overlap(sorted_array(many), sorted_array(few)) == reference.overlap(few, many)


@given(st.sets(values), st.sets(values))
def test_difference_is_reference(a: set[int], b: set[int]) -> None:
    ours, theirs = sorted_array(a), sorted_array(b)
    assert difference(ours, theirs) == array("Q", reference.difference(a, b))
    assert (ours, theirs) == (sorted_array(a), sorted_array(b))


@given(st.sets(values, max_size=12), st.integers(400, 3_000), st.integers(1, 10**15))
@example({0}, 400, 1)
@example({LARGEST}, 400, 1)
@example(set(), 400, 1)
def test_galloping_difference_is_reference(few: set[int], count: int, step: int) -> None:
    many = set(range(0, count * step, step))
    few |= set(sorted(many)[:: count // 5])
    for a, b in ((few, many), (many, few)):
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
    values, starts, counts = array("Q", [1, 2, 3]), array("Q", [0, 1]), array("I", [1, 2])
    assert pair_resemblances(array("Q", [1]), values, starts, counts).tolist() == [0]
    for a, b in ((0, 2), (2, 0), (2**32 - 1, 1)):
        with pytest.raises(ValueError, match=f"the pair {a}, {b} is not of the 2 sets"):
            pair_resemblances(array("Q", [a << 32 | b]), values, starts, counts)
    with pytest.raises(ValueError, match="a count for each of 2 starts, got 1"):
        pair_resemblances(array("Q"), values, starts, array("I", [1]))
    for start, count in ((1, 3), (4, 0), (4, 1), (LARGEST, 2)):
        with pytest.raises(ValueError, match="has 3 values, and set 1 ends beyond them"):
            pair_resemblances(array("Q"), values, array("Q", [0, start]), array("I", [1, count]))
    with pytest.raises(TypeError, match=r"pair_resemblances\(\) expects an array of 32-bit"):
        pair_resemblances(array("Q"), values, starts, starts)


@given(st.lists(st.integers(0, 20), max_size=40), st.sets(st.integers(0, 20)))
def test_matching_runs_of_values_in_any_order(values: list[int], known: set[int]) -> None:
    assert matching_runs(array("Q", values), sorted_array(known)) == reference.matching_runs(values, known)


@given(st.lists(values, max_size=20), st.sets(values))
@example([0, LARGEST], {0, LARGEST})
@example([LARGEST], set())
def test_matching_runs_at_the_ends_of_the_range(some: list[int], known: set[int]) -> None:
    assert matching_runs(array("Q", some), sorted_array(known)) == reference.matching_runs(some, known)


def test_the_difference_is_a_new_array() -> None:
    """It is never the array passed in, even if nothing is removed."""
    ours = array("Q", [1, 2])
    left = difference(ours, array("Q"))
    left.append(3)
    assert ours == array("Q", [1, 2])


@pytest.mark.parametrize("at", [0, 1, 500, 998, 999])
def test_finds_one_value_wherever_it_is(at: int) -> None:
    many = array("Q", range(1, 3_000, 3))
    assert overlap(array("Q", [many[at]]), many) == 1
    assert overlap(array("Q", [many[at] + 1]), many) == 0


def test_takes_any_buffer_of_the_right_type() -> None:
    numbers = array("Q", [1, 5, 9])
    assert overlap(memoryview(numbers)[1:], memoryview(numbers.tobytes()).cast("Q")) == 2
    assert difference(memoryview(numbers), memoryview(numbers)[1:]) == array("Q", [1])


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ([1, 2], "got list"),
        (array("I", [1]), "got an array of typecode 'I'"),
        (b"12345678", "got bytes"),
        (None, "got NoneType"),
    ],
)
@pytest.mark.parametrize("expects", [overlap, difference, matching_runs])
def test_errors_name_what_was_expected(expects: Callable[[object, object], object], wrong: object, named: str) -> None:
    with pytest.raises(TypeError, match=rf"{expects.__name__}\(\) expects .*typecode 'Q'.*{named}"):
        expects(wrong, array("Q"))
    with pytest.raises(TypeError, match=named):
        expects(array("Q"), wrong)
