from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.queries.words import Term, Words

APPLE, PEAR, PLUM, OR = Term("apple"), Term("pear"), Term("plum"), Term("OR")


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("apple pear", [[APPLE], [PEAR]], []),
        ('apple "fruit tree" -pear', [[APPLE], [Term("fruit tree")]], [PEAR]),
        ('-"fruit tree" apple', [[APPLE]], [Term("fruit tree")]),
        ('"never closed', [[Term("never closed")]], []),
        ("well-known", [[Term("well-known")]], []),
        ('- "" " " apple', [[Term("-")], [APPLE]], []),
        ("", [], []),
        ("mil* -pe*", [[Term("mil", prefix=True)]], [Term("pe", prefix=True)]),
        ('mil** * *x x*y "mil*"', [[Term("mil", True)], [Term("*")], [Term("*x")], [Term("x*y")], [Term("mil*")]], []),
        ("apple OR pear plum", [[APPLE, PEAR], [PLUM]], []),
        ("apple OR pear OR plum", [[APPLE, PEAR, PLUM]], []),
        ('plum apple OR "fruit tree" OR mil*', [[PLUM], [APPLE, Term("fruit tree"), Term("mil", prefix=True)]], []),
        ("apple or pear", [[APPLE], [Term("or")], [PEAR]], []),
        ('apple "OR" pear', [[APPLE], [OR], [PEAR]], []),
        ("OR apple", [[OR], [APPLE]], []),
        ("apple OR", [[APPLE], [OR]], []),
        ('apple OR ""', [[APPLE], [OR]], []),
        ("apple OR -pear", [[APPLE], [OR]], [PEAR]),
        ("-pear OR apple", [[OR], [APPLE]], [PEAR]),
        ("apple -OR pear", [[APPLE], [PEAR]], [OR]),
        ("apple OR OR pear", [[APPLE, OR], [PEAR]], []),
        ("OR OR OR", [[OR, OR]], []),
    ],
)
def test_what_is_typed(typed: str, wanted: list[list[Term]], unwanted: list[Term]) -> None:
    assert Words.of(typed) == Words(tuple(map(tuple, wanted)), tuple(unwanted))


@given(st.text() | st.lists(st.sampled_from(["a", "-b", "OR", "c*", '"d e"', '"', "-", "*"])).map(" ".join))
def test_anything_can_be_typed(typed: str) -> None:
    words = Words.of(typed)
    wanted = tuple(term for alternatives in words.wanted for term in alternatives)
    assert all(words.wanted)
    assert all(term.text.strip() for term in (*wanted, *words.unwanted))
    assert Words.of(typed, any_word=True) == Words((wanted,) if wanted else (), words.unwanted)
