"""The symbols that change what a text says, compared with plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.symbols import symbol_places, symbols_hash
from tests.cython_core.reference import DASHES, FULL_WIDTH, symbols
from tests.refused import refused

PIECES = ["a", "B", "7", "12", "é", "中", "_", " ", "  ", "\t", "\xa0", "\n", "\r\n", "＋", "５"]
PIECES += "+-*/\\<>=^&|~!%¬±×÷−–→≤.,:;$€°#²₂()[]{}\"'@?"
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=20)


@given(texts)
def test_compiled_is_reference(text: str) -> None:
    assert [text[start:end].translate(FULL_WIDTH) for start, end in symbol_places(text)] == symbols(text)


@given(texts, texts)
def test_hashes_are_equal_for_the_same_symbols(a: str, b: str) -> None:
    def written(text: str) -> str:
        return " ".join("".join("-" if char in DASHES else char for char in run) for run in symbols(text))

    assert (symbols_hash(a) == symbols_hash(b)) == (written(a) == written(b))
    assert (symbols_hash(a) == 0) == (written(a) == "")


OTHER_SYMBOLS = [
    *[("What is 12 + 5?", "What is 12 * 5?"), ("What is 12 - 5?", "What is 12, 5?"), ("12 +\n5", "12 *\n5")],
    *[("if x < y:", "if x > y:"), ("a<b", "a>b"), ("n == 0", "n != 0"), ("x = -1", "x = 1"), ("if !done", "if done")],
    *[("1.5 mg", "1/5 mg"), ("12:30", "12.30"), ("$5", "€5"), ("5 %", "5"), ("C++ and C", "C and C#"), ("x²", "x2")],
    *[("x < y = z", "x <= y z"), ("(a + b) * c", "(a + b) / c")],
]
SAME_SYMBOLS = [
    *[("Some words, and more.", "some words and more"), ("a well-known - word", "a well known – word")],
    *[("* one\n* two", "- one\n- two"), ("very **bold** words", "very bold words"), ("> quoted words", "quoted words")],
    *[("A title\n=======\ntext", "A title\n\ntext"), ("“words” … here!", '"words" here'), ("5 - 3", "5 − 3")],
    *[("12 +\n5", "12 + 5"), ("１２＋５", "12+5"), ("12\xa0+\u20095", "12 + 5"), ("1. one 2. two", "1) one 2) two")],
]


@pytest.mark.parametrize(("a", "b"), [*OTHER_SYMBOLS, *SAME_SYMBOLS])
def test_operators_count_and_other_punctuation_does_not(a: str, b: str) -> None:
    assert (symbols_hash(a) == symbols_hash(b)) == ((a, b) in SAME_SYMBOLS)


def test_only_texts_have_symbols() -> None:
    for wrong in (None, b"1 + 1", 7):
        refused(TypeError, "", symbols_hash, wrong)
        refused(TypeError, "", symbol_places, wrong)
