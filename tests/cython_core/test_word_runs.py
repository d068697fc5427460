from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.word_runs import WordRuns
from tests.cython_core.reference import word_runs

# Few words, so that runs are shared, repeat themselves and overlap.
texts = st.lists(st.sampled_from(["a", "b", "c", "中", "Ёж", "é"]), max_size=30).map(" ".join)
MAX_OCCURRENCES = 1000


def words_of(canonical: CanonicalText) -> list[str]:
    return [canonical.chars[start:end] for start, end in pairwise([*canonical.words, len(canonical.chars)])]


@given(st.lists(texts, max_size=5), texts, st.integers(1, 6), st.integers(1, 6))
def test_compiled_is_reference(indexed: list[str], text: str, width: int, shortest: int) -> None:
    shortest = min(shortest, width)
    others = [canonical_text(each) for each in indexed]
    canonical = canonical_text(text)
    expected = word_runs([words_of(each) for each in others], words_of(canonical), width, shortest)
    assert WordRuns(others, width, shortest).find(canonical) == expected


@given(st.lists(st.text(), max_size=3), st.text())
def test_compiled_is_reference_on_any_text(indexed: list[str], text: str) -> None:
    others = [canonical_text(each) for each in (*indexed, text)]
    expected = word_runs([words_of(each) for each in others], words_of(others[-1]), 3, 2)
    assert WordRuns(others, 3, 2).find(canonical_text(text)) == expected


def test_a_run_ends_where_a_text_ends() -> None:
    index = WordRuns([canonical_text("one two three"), canonical_text("four five six")], 3, 3)
    assert index.find(canonical_text("one two three four five six")) == [(0, 3, 0, 0), (3, 6, 1, 0)]


def test_a_long_run_is_one_run() -> None:
    text = canonical_text(" ".join(map(str, range(100_000))))
    assert WordRuns([text], 13).find(text) == [(0, 100_000, 0, 0)]


def test_a_frequent_window_is_found_at_its_first_places() -> None:
    frequent = [canonical_text("the same five words here")] * (MAX_OCCURRENCES + 5)
    index = WordRuns([*frequent, canonical_text("and the same five words here again")], 4)
    found = index.find(canonical_text("oh and the same five words here again"))
    assert [run for run in found if run[2] < len(frequent)] == [(2, 7, i, 0) for i in range(MAX_OCCURRENCES)]
    assert (1, 8, len(frequent), 0) in found, "the rare windows before and after lead to the whole run, once"
    assert len(found) == MAX_OCCURRENCES + 1


def test_short_texts_may_begin_alike() -> None:
    count = MAX_OCCURRENCES + 5
    index = WordRuns([canonical_text(f"what is the sum of one and {i}") for i in range(count)], 10, 4)
    for i in range(count):
        assert index.find(canonical_text(f"oh what is the sum of one and {i} then")) == [(1, 9, i, 0)]


def test_repetition_is_compared_in_time() -> None:
    zeros = canonical_text("0 " * 20_000)
    found = WordRuns([zeros], 13).find(zeros)
    assert {(run[0], run[1]) for run in found} >= {(0, 20_000)}


@pytest.mark.parametrize("nothing", [[], [""], ["…", "one two"]])
def test_nothing_is_found_in_nothing(nothing: list[str]) -> None:
    index = WordRuns(map(canonical_text, nothing), 3, 3)
    assert index.find(canonical_text("one two three")) == index.find(canonical_text("")) == []


def test_errors_name_what_was_expected() -> None:
    with pytest.raises(TypeError, match=r"WordRuns\(\) expects texts that are CanonicalText, got str"):
        WordRuns(["some words"], 5)  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"find\(\) expects a CanonicalText, got str"):
        WordRuns([], 5).find("some words")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 <= shortest <= width, got shortest 8 and width 5"):
        WordRuns([], 5, 8)
