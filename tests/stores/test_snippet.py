from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import VALUE_OF
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.snippet import hit_of, marks, snippet
from tests.stores.conftest import numbered

FILLING = "filling " * 100
PARTS = ["a", "A", "é", "ab", '"a b"', '"b a a"', "a*", "a-b*", "日", "日本", "OR", "-b", '"日 本"', "ß", "ss*"]
TYPED = st.lists(st.sampled_from(PARTS), max_size=4).map(" ".join)
PIECES = ["a", "Á", "b", "abc", "a\u0301", "e", "日本", "日", " ", "\n", "-", "Straße", "SS", "İ", "😀", "x" * 30]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=120).map(" ".join)


@pytest.mark.parametrize(
    ("typed", "place", "expected"),
    [
        ('"only one"', "only one plum here", ["only one"]),
        ("plum tree", "a PLUM tree", ["PLUM", "tree"]),  # where both words are, not the first place with one
        ("quince", "some Quínces; a Quínce pie", ["Quínce"]),  # a whole word
        ("quinc*", "some Quínces; a Quínce pie", ["Quínces", "Quínce"]),
        ('"plum tree"', "a PLUM\n\n tree", ["PLUM tree"]),
        ("plum-tr*", "a PLUM treetop", ["PLUM", "treetop"]),
        ("日本語", "全文検索のための日本語の文章", ["日本語"]),
        ("本語* 検索", "全文検索のための日本語の文章", ["検索", "本語"]),
        ("istanbul", "Towards İstanbul", ["İstanbul"]),
        ("snake_case", "in snake_case they say", ["snake_case"]),
        ("한국", "에서 한국 사람", ["한국"]),
        ("STRASSE", "die Straße", ["Straße"]),
        ("straße OR weg -platz", "eine Strasse, ein Weg", ["Strasse", "Weg"]),
    ],
)
def test_the_place_of_the_words_is_shown(typed: str, place: str, expected: list[str]) -> None:
    text = f"{FILLING}only one plum here {FILLING}{place} {FILLING}"
    shown = snippet(text, Words.of(typed))
    assert " ".join(place.split()) in shown.text
    assert (shown.text[:2], shown.text[-2:], len(shown.text) < 220) == ("… ", " …", True)
    assert [shown.text[start:end] for start, end in shown.marks] == expected


@pytest.mark.parametrize("before", [" ", "\n"])
def test_it_starts_and_ends_with_whole_words(before: str) -> None:
    link, word = "http://www.example.org/somewhere/", "antidisestablishmentarianism"
    text = f"{FILLING}{before}{link} at the plum {'-' * 130}\n{word} {FILLING}"
    shown = snippet(text, Words.of("plum")).text
    assert shown.startswith(f"… {link} at the plum -")
    assert shown.endswith(f"- {word} …")


def test_a_sentence_is_preferred_to_the_navigation() -> None:
    sentence = "In this sentence the plum tree grows beside an old wall, and nobody has seen it bloom for many years."
    text = f"Plum tree\nPrev Up Plum Next tree\nHome\n{sentence}\nPlum tree\nCopyright\n{FILLING}"
    shown = snippet(text, Words.of("plum tree"))
    assert shown.text.removeprefix("… ").startswith(sentence)
    # All the words count for more than a sentence.
    shown = snippet(f"Prev Plum Next\nplum pear\n{FILLING}\n{sentence}", Words.of("plum pear"))
    assert [shown.text[start:end] for start, end in shown.marks] == ["Plum", "plum", "pear"]


def test_without_a_place_the_start_is_shown() -> None:
    for text, words in (("Some text in  lines", "none"), ("", "none"), ("Some text", "")):
        assert snippet(text, Words.of(words)) == (" ".join(text.split()), [])
    shown = snippet("plum " * 200, Words.of(f'"{"plum " * 60}"'))  # a phrase that is cut off is not marked
    assert (len(shown.text) > 150, shown.marks) == (True, [])


@pytest.mark.parametrize(
    ("text", "typed", "expected"),
    [
        ("a plum, a plum tree", 'plum "plum tree"', ["plum", "plum tree"]),  # the longer one
        ("a b c", '"a b" "b c"', ["a b"]),  # the first
        ("日本", "日 本", ["日", "本"]),
        ("Plums -plum", "-plum", []),
        ("", "plum", []),
    ],
)
def test_marks_do_not_overlap(text: str, typed: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in marks(text, Words.of(typed))] == expected


def test_a_hit_has_marks_in_its_title_too() -> None:
    record = numbered(1, title="Plum\ttrees")
    card = Card._make(name == "latest" or VALUE_OF[name](record) for name in Card._fields)
    shown = "Of the plum", [(7, 11)], [(0, 4), (5, 10)]
    assert hit_of(card, 1.5, "Of the plum", Words.of("plum tree*")) == (card, 1.5, *shown)
    card = card._replace(title=None)
    assert hit_of(card, 1.5, "", Words.of("plum")) == (card, 1.5, "", [], [])


@given(st.text(max_size=400) | TEXTS, st.text(max_size=9) | TYPED)
def test_it_is_a_line_of_the_text(text: str, typed: str) -> None:
    shown = snippet(text, Words.of(typed)).text.removeprefix("… ").removesuffix(" …")
    assert len(shown) <= 202
    assert shown in " ".join(text.split())


@given(st.text() | TEXTS, st.text(max_size=9) | TYPED)
def test_marks_are_what_was_asked_for(text: str, typed: str) -> None:
    words = Words.of(typed)
    shown = snippet(text, words)
    wanted = [each for alternatives in phrases(words).wanted for each in alternatives]
    for line, found in (shown, (text, marks(text, words))):
        ends = [0, *(offset for mark in found for offset in mark), len(line)]
        assert ends == sorted(ends)
        for start, end in found:
            here = tuple(word_tokens(line[start:end])[0])
            assert any(
                here == each.words or (each.prefix and len(here) == 1 and here[0].startswith(each.prefix))
                for each in wanted
            )
    if len(text) <= 150:  # then all of it is shown
        assert [shown.text[start:end] for start, end in shown.marks] == [
            " ".join(text[start:end].split()) for start, end in marks(text, words)
        ]
