from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.passages import join_runs, passages
from tests.cython_core import reference


@st.composite
def related_texts(draw: st.DrawFn) -> tuple[str, str]:
    letters = draw(st.sampled_from(["ab", "abcd", "abcdefghijklmnopqrst", "aé中😀"]))
    piece = st.text(letters, max_size=30)
    shared = draw(st.text(letters, max_size=40))
    a, b = (draw(piece) + shared + draw(piece) for _ in range(2))
    return (a + shared, shared + b) if draw(st.booleans()) else (a, b)


sizes = st.integers(1, 12)


@given(related_texts(), sizes, sizes)
def test_reports_only_whole_runs_of_at_least_k(texts: tuple[str, str], k: int, w: int) -> None:
    found = passages(*texts, k, w)
    assert set(found) <= set(reference.shared_runs(*texts, k))
    assert found == sorted(set(found))


@given(related_texts(), sizes, sizes)
def test_every_place_of_a_run_of_t_is_reported_in_a_run_as_long(texts: tuple[str, str], k: int, w: int) -> None:
    found = passages(*texts, k, w)
    t = min(w + k - 1, *map(len, texts))
    if t < k:
        assert not found
        return
    sides = [[position for _, position in reference.fingerprints(text, k, t - k + 1, robust=False)] for text in texts]
    few = len(sides[0]) * len(sides[1]) <= 4096
    for run in reference.shared_runs(*texts, k):
        length = run[1] - run[0]
        for side, start in zip(sides, (0, 2), strict=True):
            for position in side if length >= t else ():
                if run[start] <= position and position + k <= run[start + 1]:
                    holding = [each for each in found if each[start] <= position and position + k <= each[start + 1]]
                    assert holding
                    assert not few or max(other[1] - other[0] for other in holding) >= length


@given(related_texts(), sizes, sizes)
def test_swapped_texts_give_runs_of_the_same_lengths(texts: tuple[str, str], k: int, w: int) -> None:
    """Each side takes the first of equally long partners in its own order."""
    there, back = passages(*texts, k, w), passages(*texts[::-1], k, w)
    assert {end - start for start, end, _, _ in there} == {end - start for _, _, start, end in back}


def test_a_passage_that_moved_is_found_where_it_went() -> None:
    source = random.Random(5)
    one, two, three, four = ("".join(source.choices("abcdefghij", k=200)) for _ in range(4))
    assert passages(one + two + three, three + four + one, 20, 21) == [(0, 200, 400, 600), (400, 600, 0, 200)]


def test_a_text_shorter_than_t_is_found_whole() -> None:
    page = "".join(random.Random(6).choices("abcdefghij", k=5000))
    assert passages(page[1000:1060], page, 50, 100) == [(0, 60, 1000, 1060)]
    assert passages(page, page[1000:1060], 50, 100) == [(1000, 1060, 0, 60)]


@pytest.mark.parametrize("width", ["", "é", "中", "😀"])
def test_texts_of_different_character_widths_share_what_they_share(width: str) -> None:
    shared = "".join(random.Random(7).choices("abcdefghij", k=300))
    assert passages("x" + shared, width + shared, 20, 20) == [(1, 301, len(width), len(width) + 300)]


def test_one_character_repeated_a_million_times_is_a_handful_of_passages() -> None:
    found = passages("0" * 1_000_000, "0" * 300_000, 50, 100)
    assert found[0] == (0, 300_000, 0, 300_000)
    assert found[-1][1] == 1_000_000
    assert len(found) < 10


def test_join_runs_bridges_small_gaps_only_if_both_texts_have_them() -> None:
    runs = [(0, 50, 100, 150), (53, 90, 152, 189), (95, 130, 400, 435), (131, 150, 420, 439)]
    assert join_runs(runs, 5) == [(0, 90, 100, 189), (95, 130, 400, 435), (131, 150, 420, 439)]
    assert join_runs(runs, 0) == runs
    assert join_runs([], 5) == []
