from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.stores.snippet import snippet

FILLING = "filling " * 100


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["only one"], "only one plum here"),
        (["plum", "tree"], "a PLUM tree"),  # the place with both, not the first with one
        (["quince"], "some Quínces; a Quínce pie"),  # a whole word
        (["plum tree"], "a PLUM tree"),
        (["日本語"], "全文検索のための日本語の文章"),
        (["istanbul"], "Towards İstanbul"),
        (["snake_case"], "in snake_case they say"),
        (["한국"], "에서 한국 사람"),
    ],
)
def test_the_place_of_the_words_is_shown(words: list[str], place: str) -> None:
    text = f"{FILLING}only one plum here {FILLING}{place} {FILLING}"
    shown = snippet(text, words)
    assert place in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 220


def test_without_a_place_the_start_is_shown() -> None:
    assert snippet("Some text\nin  lines", ["none"]) == "Some text in lines"
    assert snippet("", ["none"]) == ""


@given(st.text(max_size=400), st.lists(st.text(max_size=5), max_size=3))
def test_it_is_a_line_of_the_text(text: str, words: list[str]) -> None:
    shown = snippet(text, words).removeprefix("… ").removesuffix(" …")
    assert len(shown) <= 202
    assert shown in " ".join(text.split())
