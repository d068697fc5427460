from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.word_tokens import word_tokens
from tests.refused import refused

# Letters, digits, marks, vanishing characters, scripts without spaces, emoji and their parts, flags.
PARTS = "aZ1 _'.ßÆøé\u0301\u0332\u200d\ufe0f\u20e3\x00日ひカーกﬁИΣς한א\u1a55\u1950😀👍🏽🇩🇪\ud800"


def words(text: str) -> list[str]:
    return word_tokens(text)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello, World", ["hello", "world"]),
        ("don't e.g. snake_case 3.14", ["don", "t", "e", "g", "snake", "case", "3", "14"]),
        ("Straße Æsop smørrebrød ﬁne ÉTÉ", ["strasse", "aesop", "smorrebrod", "fine", "ete"]),
        ("e\u0301te\u0301", ["ete"]),
        ("ΣΟΦΟΣ σοφος σοφός", ["σοφοσ", "σοφοσ", "σοφόσ"]),
        ("日本語 ひらがな カー", [*"日本語ひらがなカー"]),
        ("한국어 x한", ["한국어", "x한"]),
        ("I ❤️ 👍🏽 🇩🇪🇫🇷 🇩 1️⃣", ["i", "❤", "👍🏽", "🇩🇪", "🇫🇷", "1"]),
        ("０１Ａ", ["01a"]),
        ("\u0332\ufe0f\u200d …", []),
        ("a" * 256, ["a" * 255, "a"]),
        ("\ud800a\x00b", ["a", "b"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_offsets_are_of_the_text() -> None:
    text = "Ein Smørrebrød, e\u0301te\u0301 日本"
    found, *spans = word_tokens(text)
    assert found == ["ein", "smorrebrod", "ete", "日", "本"]
    written = [text[start:end] for start, end in zip(*spans, strict=True)]
    assert written == ["Ein", "Smørrebrød", "e\u0301te\u0301", "日", "本"]


@given(st.text() | st.text(alphabet=PARTS) | st.text(alphabet="ab \U0001f1e9\u0332", max_size=400))
def test_words_are_in_order_and_within_the_text(text: str) -> None:
    found, starts, ends = word_tokens(text)
    places = [place for pair in zip(starts, ends, strict=True) for place in pair]
    assert len(places) == 2 * len(found)
    assert places == sorted(places)
    assert all(start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    assert all(word and len(word) <= 4 * 255 for word in found)


@given(st.text(alphabet=PARTS), st.text(alphabet=PARTS))
def test_a_space_separates_words(before: str, after: str) -> None:
    assert words(f"{before} {after}") == words(before) + words(after)


@given(st.text(alphabet=PARTS.replace("\ud800", "")))
def test_folded_words_are_their_own_words(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii(text: str) -> None:
    assert words(text) == "".join(each.lower() if each.isalnum() else " " for each in text).split()


@given(st.text(alphabet=st.characters(codec="latin-1", categories=("L", "Nd"))))
def test_the_same_text_in_wider_characters(text: str) -> None:
    for wide in ("\u2028", "\U000fffff"):
        assert words(text + wide) == words(text)


def test_accents_of_latin_letters_are_ignored() -> None:
    for letter in map(chr, range(0xC0, 0x180)):
        base = unicodedata.normalize("NFD", letter)
        if len(base) == 2 and base[0].isascii():
            assert words(letter) == words(base) == [base[0].lower()]


def test_a_megabyte_without_a_space() -> None:
    for character, units in (("a", 255), ("é", 255), ("한", 255), ("\U00010400", 127), ("日", 1)):
        assert {len(word) for word in words(character * 255 * 4_000)} <= {units, 255 * 4_000 % units}
    assert words("\u0332" * 1_000_000) == []
    assert words("\U0001f1e9\u0332" * 1_000_000) == ["\U0001f1e9\u0332" * 2] * 500_000


def test_bytes_are_rejected() -> None:
    refused(TypeError, "expects str, got bytes", word_tokens, b"words")
