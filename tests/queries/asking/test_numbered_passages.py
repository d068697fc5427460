from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.queries.asking.numbered_passages import longest_non_decreasing, numbered_passages
from opensearch_winnow.queries.scores import Passage


@given(st.lists(st.integers(0, 8), max_size=9))
def test_what_stays_in_order_is_a_longest_series_that_never_falls(starts: list[int]) -> None:
    kept = longest_non_decreasing(starts)
    series = [starts[index] for index in sorted(kept)]
    assert series == sorted(series)
    longest = [0] * (len(starts) + 1)
    for index, start in enumerate(starts):
        longest[index] = 1 + max((longest[before] for before in range(index) if starts[before] <= start), default=0)
    assert len(kept) == max(longest)


def test_passages_are_numbered_in_the_order_of_a() -> None:
    a = "One two, three. Four five six seven; eight"
    places = [Passage(0, 14, 50, 64), Passage(16, 35, 0, 19), Passage(37, 42, 20, 25)]
    shown = [(each.number, each.size, each.moved) for each in numbered_passages(a, places)]
    assert shown == [(1, "3 words", True), (2, "4 words", False), (3, "1 word", False)]
