"""Representatives from pairs, compared with their definition."""

from __future__ import annotations

from array import array
from itertools import pairwise

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from tests.cython_core.reference import Pair, pair_representatives
from tests.refused import refused

PAGES = 25
PAGE = st.integers(0, PAGES - 1)
PAIRS = st.lists(st.tuples(PAGE, PAGE).filter(lambda pair: pair[0] < pair[1]), max_size=80)


def packed(pairs: list[Pair]) -> array[int]:
    return array("Q", [a << 32 | b for a, b in pairs])


def representatives(pairs: list[Pair], n: int = PAGES) -> list[int]:
    found = PairRepresentatives(n)
    found.add(packed(sorted(pairs)))
    return found.representatives.tolist()


@given(PAIRS)
def test_compiled_is_reference(pairs: list[Pair]) -> None:
    assert representatives(pairs) == pair_representatives(PAGES, pairs)


@given(PAIRS)
def test_every_page_resembles_its_representative_and_no_two_of_these_resemble_each_other(pairs: list[Pair]) -> None:
    joined = representatives(pairs)
    shown = {page for page, joins in enumerate(joined) if page == joins}
    assert all(joins in shown and (joins == page or (joins, page) in pairs) for page, joins in enumerate(joined))
    assert not any(a in shown and b in shown for a, b in pairs)
    # The first representative wins.
    assert not any(a in shown and a < joined[b] for a, b in pairs)


@given(PAIRS, st.lists(st.integers(0, 80), max_size=5))
def test_pairs_may_come_in_parts(pairs: list[Pair], cuts: list[int]) -> None:
    """The last pair of a part may be repeated at the start of the next."""
    ordered, found = sorted(pairs), PairRepresentatives(PAGES)
    for start, end in pairwise(sorted([0, *cuts, len(ordered)])):
        found.add(packed(ordered[max(start - 1, 0) : end]))
    assert found.representatives.tolist() == representatives(pairs)


@given(PAIRS, st.integers(0, PAGES))
def test_later_pages_do_not_change_the_representatives_of_earlier_ones(pairs: list[Pair], n: int) -> None:
    assert representatives([pair for pair in pairs if pair[1] < n], n) == representatives(pairs)[:n]


def test_a_chain_is_cut_in_twos() -> None:
    count = 100_001
    chain = [(page, page + 1) for page in range(count - 1)]
    assert representatives(chain, count) == [page // 2 * 2 for page in range(count)]


def test_errors_name_what_was_expected() -> None:
    for wrong in (2.0, "2", None):
        refused(TypeError, "an int, got", PairRepresentatives, wrong)
    for n in (-1, 2**32):
        refused(ValueError, f"0 to 4294967295 pages, got {n}", PairRepresentatives, n)
    found = PairRepresentatives(3)
    for anything in (None, [1], array("q", [1])):
        refused(TypeError, "64-bit unsigned integers", found.add, anything)
    for a, b in ((1, 1), (2, 1), (0, 3), (3, 4)):
        refused(ValueError, f"of 3 pages, not {a} and {b}", found.add, packed([(a, b)]))
    for pairs in ([(0, 2), (0, 1)], [(1, 2), (0, 2)]):
        refused(ValueError, "in ascending order", PairRepresentatives(3).add, packed(pairs))
    found.add(packed([(1, 2)]))
    refused(ValueError, "in ascending order", found.add, packed([(0, 1)]))
