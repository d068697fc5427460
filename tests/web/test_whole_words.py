"""Passages are shown with whole words, and their numbers stand at them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.web.texts.compared_panes import whole_panes
from opensearch_winnow.web.texts.whole_words import without_edges
from tests.web.known_crawl_fixture import paragraph

SCHEME = Scheme.preset("passages")
SHARED = paragraph("shared by both")
OTHER = paragraph("other shared")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (f"ByteVectorValues\n{SHARED} Ending", f"FloatEncodings\n{SHARED} Ended"),  # half a word at either end
        (f"He said: -- {SHARED} ...", f"They said: -- {SHARED} ...\n\n{OTHER}"),
        (f"One\n{SHARED}\n{OTHER} and {SHARED} two", f"{SHARED}s {OTHER}e"),
    ],
    ids=["half-words", "punctuation", "repeated"],
)
def test_a_number_stands_at_the_first_word_of_its_passage(a: str, b: str) -> None:
    comparison = compare(a, b, SCHEME)
    sides = ComparedText(id="a", text=a), ComparedText(id="b", text=b)
    for pane in whole_panes(Compared.of(*sides, comparison, SCHEME)).panes:
        numbers = re.findall(r'(.)<mark[^>]*>(?:<a class="n[^>]*>\d+</a>)+(.)', pane.text, re.DOTALL)
        assert numbers
        for before, after in numbers:
            assert not before.isalnum()
            assert after.isalnum()
        for last, after in re.findall("(.)</mark>(.)", pane.text, re.DOTALL):
            assert not (last.isalnum() and after.isalnum())


@given(st.text(" .\nab1", max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_edges(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = without_edges(text, (start, end))
    assert start <= first <= last <= end
    if any(map(str.isalnum, text[start:end])):
        assert text[first].isalnum()
        assert text[last - 1].isalnum()
        assert not any(map(str.isalnum, text[start:first] + text[last:end]))
    else:
        assert (first, last) == (start, end)
