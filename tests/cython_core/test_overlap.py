from __future__ import annotations

from array import array

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opensearch_winnow.cython_core import reference
from opensearch_winnow.cython_core.overlap import overlap

LARGEST = 2**64 - 1
# Few enough values that two sets meet, and the ends of the range.
values = st.one_of(st.integers(0, 300), st.integers(LARGEST - 300, LARGEST))


def sorted_array(numbers: set[int]) -> array[int]:
    return array("Q", sorted(numbers))


@given(st.sets(values), st.sets(values))
def test_is_the_size_of_the_intersection(a: set[int], b: set[int]) -> None:
    assert overlap(sorted_array(a), sorted_array(b)) == reference.overlap(a, b)


@given(st.sets(values, max_size=12), st.integers(400, 3_000), st.integers(1, 10**15))
@example({0}, 400, 1)
@example({LARGEST}, 400, 1)
def test_gallops_to_the_same_number(few: set[int], count: int, step: int) -> None:
    many = set(range(0, count * step, step))
    few |= set(sorted(many)[:: count // 5])
    assert overlap(sorted_array(few), sorted_array(many)) == reference.overlap(few, many)
    assert overlap(sorted_array(many), sorted_array(few)) == reference.overlap(few, many)


@pytest.mark.parametrize("at", [0, 1, 500, 998, 999])
def test_finds_one_value_wherever_it_is(at: int) -> None:
    many = array("Q", range(1, 3_000, 3))
    assert overlap(array("Q", [many[at]]), many) == 1
    assert overlap(array("Q", [many[at] + 1]), many) == 0


def test_takes_any_buffer_of_the_right_type() -> None:
    numbers = array("Q", [1, 5, 9])
    assert overlap(memoryview(numbers)[1:], memoryview(numbers.tobytes()).cast("Q")) == 2


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ([1, 2], "got list"),
        (array("I", [1]), "got an array of typecode 'I'"),
        (b"12345678", "got bytes"),
        (None, "got NoneType"),
    ],
)
def test_says_what_it_wants(wrong: object, named: str) -> None:
    with pytest.raises(TypeError, match=r"overlap\(\) wants .*typecode 'Q'.*" + named):
        overlap(wrong, array("Q"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=named):
        overlap(array("Q"), wrong)  # type: ignore[arg-type]
