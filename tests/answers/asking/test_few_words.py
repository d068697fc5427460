"""The few words that tell two texts apart."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.answers.asking.few_words import FewWords, few_words
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.cython_core.canonical_text import canonical_text

WORDS = ["the", "of", "index", "page", "PARALLEL", "SAFE", "2024", "ß", "日本語", "it's", "a-b", "\n", "x" * 80]
texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.text(max_size=60)
LONG = " ".join(f"word{number}" for number in range(400))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("the oldest page of all", "the newest page of all", FewWords("oldest", "newest")),
        ("mark it as SAFE here", "mark it as PARALLEL SAFE here", FewWords("", "PARALLEL")),
        ("one two three four five six", "four five six one two three", FewWords("", "")),  # moved
        ("", "All of it is new", FewWords("", "All of it is new")),
        ("Same, words.", "same WORDS", FewWords("", "")),
        (
            "This manual of ours describes version 15 and it is what was long ago",
            "This manual of ours describes version 16 and it is what is now so",
            FewWords("15 … was long ago", "16 … is now so"),
        ),
    ],
)
def test_known_changes(a: str, b: str, expected: FewWords) -> None:
    assert few_words(a, b) == expected


def test_numbers_and_names_come_before_small_words_and_long_runs_are_cut() -> None:
    a = f"{LONG} and this was the end of it {LONG[::-1]} until Postgres 15 came"
    b = f"{LONG} {LONG[::-1]}"
    assert "Postgres 15" in few_words(a, b, limit=20).removed
    removed, added = few_words("", LONG, limit=30)
    assert removed == ""
    assert re.fullmatch(r"…?word\d+( word\d+)+…?", added)
    assert "…" in added
    assert 20 <= len(added) <= 30


@given(texts, texts, st.integers(5, 80))
def test_words_are_in_one_text_and_fit(a: str, b: str, limit: int) -> None:
    found = few_words(a, b, limit=limit)
    assert few_words(b, a, limit=limit) == FewWords(found.added, found.removed)
    for words, text in ((found.removed, a), (found.added, b)):
        assert len(words) <= limit
        assert all(piece.strip() in one_line(text) for piece in words.split("…"))
    assert few_words(a, a) == few_words(a, f"  {a.upper().lower() if a.isascii() else a}\n") == FewWords("", "")
    assert bool(few_words(a, "").removed) == bool(canonical_text(a).chars)


@pytest.mark.check
def test_it_takes_time_in_proportion() -> None:
    a = " ".join(f"w{number % 977} v{number % 1009}" for number in range(50_000))
    b = a.replace("w5", "u5")
    start = time.perf_counter()
    assert few_words(a, b) != FewWords("", "")
    assert time.perf_counter() - start < 5  # half a second on a slow machine; the square would take hours
