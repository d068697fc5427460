from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.queries.words import Words


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("apple pear", ("apple", "pear"), ()),
        ('apple "fruit tree" -pear', ("apple", "fruit tree"), ("pear",)),
        ('-"fruit tree" x', ("x",), ("fruit tree",)),
        ('"never closed', ("never closed",), ()),
        ("well-known", ("well-known",), ()),
        ('- "" " " x', ("-", "x"), ()),
        ("", (), ()),
    ],
)
def test_what_is_typed(typed: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    assert Words.of(typed) == Words(wanted, unwanted)


@given(st.text())
def test_anything_can_be_typed(typed: str) -> None:
    words = Words.of(typed)
    assert all(word.strip() for word in (*words.wanted, *words.unwanted))
