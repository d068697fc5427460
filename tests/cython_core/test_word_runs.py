from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.word_runs import WordRuns
from tests.cython_core.reference import word_runs
from tests.refused import refused

# Few words, so that runs are shared, repeat themselves and overlap.
texts = st.lists(st.sampled_from(["a", "b", "c", "中", "Ёж", "é"]), max_size=30).map(" ".join)
MAX_OCCURRENCES = 1000


def words_of(canonical: CanonicalText) -> list[str]:
    return [canonical.chars[start:end] for start, end in pairwise([*canonical.words, len(canonical.chars)])]


@given(st.lists(texts, max_size=5), texts, st.integers(1, 6), st.integers(1, 6))
@example(["…", "a b"], "a b c", 3, 3)
def test_compiled_is_reference(indexed: list[str], text: str, width: int, shortest: int) -> None:
    shortest = min(shortest, width)
    others, canonical = list(map(canonical_text, indexed)), canonical_text(text)
    expected = word_runs(list(map(words_of, others)), words_of(canonical), width, shortest)
    assert WordRuns(others, width, shortest).find(canonical) == expected


@given(st.lists(st.text(), max_size=3), st.text())
def test_compiled_is_reference_on_any_text(indexed: list[str], text: str) -> None:
    others = list(map(canonical_text, (*indexed, text)))
    assert WordRuns(others, 3, 2).find(others[-1]) == word_runs(list(map(words_of, others)), words_of(others[-1]), 3, 2)


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


def test_errors_name_what_was_expected() -> None:
    refused(TypeError, r"WordRuns\(\) expects texts that are CanonicalText, got str", WordRuns, ["some words"], 5)
    refused(TypeError, r"find\(\) expects a CanonicalText, got str", WordRuns([], 5).find, "some words")
    refused(ValueError, "shortest <= width, got shortest 8 and width 5", WordRuns, [], 5, 8)
