"""Leader clustering from pairs, compared with its definition."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.pair_leaders import PairLeaders
from opensearch_winnow.cython_core.reference_pairs import Pair, pair_leaders

PAGES = 25
PAIRS = st.lists(
    st.tuples(st.integers(0, PAGES - 1), st.integers(0, PAGES - 1)).filter(lambda pair: pair[0] < pair[1]), max_size=80
)


def packed(pairs: list[Pair]) -> array[int]:
    return array("Q", [a << 32 | b for a, b in pairs])


def leaders(pairs: list[Pair], n: int = PAGES) -> list[int]:
    found = PairLeaders(n)
    found.add(packed(sorted(pairs)))
    return found.leaders.tolist()


@given(PAIRS)
def test_compiled_is_reference(pairs: list[Pair]) -> None:
    assert leaders(pairs) == pair_leaders(PAGES, pairs)


@given(PAIRS)
def test_every_page_resembles_its_leader_and_leaders_do_not_resemble_each_other(pairs: list[Pair]) -> None:
    joined = leaders(pairs)
    leading = {page for page, leader in enumerate(joined) if page == leader}
    assert all(leader in leading and (leader == page or (leader, page) in pairs) for page, leader in enumerate(joined))
    assert not any(a in leading and b in leading for a, b in pairs)
    # The first leader wins.
    assert not any(a in leading and a < joined[b] for a, b in pairs)


@given(PAIRS, st.lists(st.integers(0, 80), max_size=5))
def test_pairs_may_come_in_parts(pairs: list[Pair], cuts: list[int]) -> None:
    """The last pair of a part may be repeated at the start of the next."""
    ordered, found = sorted(pairs), PairLeaders(PAGES)
    for start, end in pairwise(sorted([0, *cuts, len(ordered)])):
        found.add(packed(ordered[max(start - 1, 0) : end]))
    assert found.leaders.tolist() == leaders(pairs)


@given(PAIRS, st.integers(0, PAGES))
def test_later_pages_do_not_change_the_leaders_of_earlier_ones(pairs: list[Pair], n: int) -> None:
    assert leaders([pair for pair in pairs if pair[1] < n], n) == leaders(pairs)[:n]


def test_a_chain_is_cut_in_twos() -> None:
    count = 100_001
    assert leaders([(page, page + 1) for page in range(count - 1)], count) == [page // 2 * 2 for page in range(count)]


def test_no_pages() -> None:
    found = PairLeaders(0)
    found.add(array("Q"))
    assert found.leaders == array("I")


def test_errors_name_what_was_expected() -> None:
    for wrong in (2.0, "2", None):
        with pytest.raises(TypeError, match="expects an int, got"):
            PairLeaders(wrong)  # type: ignore[arg-type]
    for n in (-1, 2**32):
        with pytest.raises(ValueError, match=f"0 to 4294967295 pages, got {n}"):
            PairLeaders(n)
    found = PairLeaders(3)
    anything: Any
    for anything in (None, [1], array("q", [1])):
        with pytest.raises(TypeError, match="64-bit unsigned integers"):
            found.add(anything)
    for a, b in ((1, 1), (2, 1), (0, 3), (3, 4)):
        with pytest.raises(ValueError, match=f"an earlier and a later of 3 pages, not {a} and {b}"):
            found.add(packed([(a, b)]))
    for pairs in ([(0, 2), (0, 1)], [(1, 2), (0, 2)]):
        with pytest.raises(ValueError, match="in ascending order"):
            PairLeaders(3).add(packed(pairs))
    found.add(packed([(1, 2)]))
    with pytest.raises(ValueError, match="in ascending order"):
        found.add(packed([(0, 1)]))
