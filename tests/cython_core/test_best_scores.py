from __future__ import annotations

from array import array

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.best_scores import filter_pages, top_scores
from tests.refused import refused

SCORES = st.lists(st.floats(0, 100, width=32) | st.sampled_from([0.0, 1.0, 5.0]), min_size=1, max_size=60)


@given(SCORES, st.data())
def test_pages_above_the_limit_and_ties_at_it(scores: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(scores)))
    above, high, tied, limit = top_scores(array("I", range(len(scores))), array("f", scores), count)
    assert limit == sorted(scores, reverse=True)[count - 1]
    assert list(above) == [number for number, score in enumerate(scores) if score > limit]
    assert list(high) == [scores[number] for number in above]
    assert list(tied) == [number for number, score in enumerate(scores) if score == limit]
    assert len(above) < count <= len(above) + len(tied)


def test_many_scores_in_any_order() -> None:
    count = 200_000
    numbers = array("I", range(count))
    for scores in (range(count), range(count, 0, -1), [1] * count, [0, 1] * (count // 2)):
        above, _, tied, _ = top_scores(numbers, array("f", scores), 10)
        assert len(above) + len(tied) >= 10


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_filter_pages(numbers: set[int], selected: set[int]) -> None:
    pages = array("I", sorted(numbers))
    scores = array("f", [number / 2 for number in pages])
    for exclude, expected in ((False, numbers & selected), (True, numbers - selected)):
        kept, kept_scores = filter_pages(pages, scores, array("I", sorted(selected)), exclude=exclude)
        assert list(kept) == sorted(expected)
        assert list(kept_scores) == [number / 2 for number in kept]


def test_errors_name_what_was_expected() -> None:
    numbers, scores = array("I", [1, 2]), array("f", [0.5, 0.5])
    for count in (0, 3):
        refused(ValueError, "a count from 1 to 2", top_scores, numbers, scores, count)
    refused(ValueError, "2 for 1", top_scores, numbers[:1], scores, 1)
    refused(TypeError, "'I'", top_scores, scores, scores, 1)
    refused(TypeError, "'f'", top_scores, numbers, array("d", [1, 2]), 1)
