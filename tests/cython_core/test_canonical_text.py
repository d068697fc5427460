from __future__ import annotations

import unicodedata
from array import array
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import unicodedata2
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from tests.cython_core import reference
from tests.refused import refused
from tools.unicode_tables import CHARACTERS, header

if TYPE_CHECKING:
    from pathlib import Path

IGNORABLE = "\u00ad\u034f\u061c\u115f\u180b\u200b\u200d\u202e\u2060\u3164\ufe0f\ufeff\U000e0041"
EXPANDING = "\ufb01\u01c6\u00bd\u2122\u3300\u33c2\u0e33\u0958\u1fb4\u037a\u0344\u320e\ufdfa\ufefb\u0130\u1e9e"

# Each alphabet has one difficulty, and is so small that its characters often meet.
ALPHABETS = {
    "Latin with marks": "aeioxAÉếệǰŉ.\u0301\u0323\u0302\u0308\u0327\u031b\u0344\u0340",
    "Greek with iotas": "αιω,Ωᾳᾴᾼΐ\u037a漢\u0345\u0301\u0313\u0323",
    "jamo": "\u1100\u1112\u1161\u1175\u11a8\u11c2가각힣ㄱㅏ\uffa1\uffc2\u302e\u1160\u115f.",
    "letters that compose": "\U00016d63\U00016d67\U00016d68\U00016d69\U00016d6a.x\u0301",
    "marks that compose": "ক\u09c7\u09be\u09cbක\u0dd9\u0dcf\u0dca\u0ddd\U0001611e\U00016121\U000113c2\U000113c5.\u0323",
    "Arabic": "اب ت،لﻻﷺـ\u064b\u064e\u0651\u0653\u0654\u0670",
    "Devanagari": "कष।य़ी\u0958\u0929\u093c\u094d\u093f\u0902",
    "Thai": "กนเ ำ๑\u0e49\u0e31\u0e38\u0e4d",
    "kana": "かガﾊｶー々ｱ・漢㌀a\uff9e\uff9f\u3099\u309a",
    "wide and square": "ＡｂＣ１，　①ⅳ㎏㏂½²ﬃ𝔘",
    "emoji": "👩❤☺1#\u200d\ufe0f\u20e3\U0001f3fd🇩",
    "ignorable": "ab e\u0301\u0323" + IGNORABLE,
    "expanding": "ae \u0301" + EXPANDING,
}
any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),  # every code point, surrogates too
    *(st.text(alphabet, max_size=12) for alphabet in ALPHABETS.values()),
    st.text("".join(ALPHABETS.values())),
)


def parts_of(canonical: CanonicalText) -> tuple[str, list[int], list[int]]:
    return canonical.chars, list(canonical.words), list(canonical.offsets)


def words(text: str, consonants: bool = False) -> list[str]:
    canonical = canonical_text(text, consonants=consonants)
    return [canonical.chars[start:end] for start, end in pairwise([*canonical.words, len(canonical.chars)])]


# --- the rule ---------------------------------------------------------------------------------------------------------


@given(any_text, st.booleans())
def test_compiled_is_reference(text: str, consonants: bool) -> None:
    assert parts_of(canonical_text(text, consonants=consonants)) == reference.canonical_text(text, consonants)


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_compiled_is_reference_for_alphabet(alphabet: str) -> None:
    @given(st.text(alphabet, max_size=12), st.booleans())
    def check(text: str, consonants: bool) -> None:
        assert parts_of(canonical_text(text, consonants=consonants)) == reference.canonical_text(text, consonants)

    check()


def test_compiled_is_reference_for_every_character() -> None:
    uniform = {*range(0x3400, 0xA000), *range(0xAC00, 0xFA00), *range(0x17000, 0x19000), *range(0x20000, 0x40000)}
    uniform |= {code for code in range(0x110000) if unicodedata2.category(chr(code)) in ("Cn", "Co")}
    some = [char for char in CHARACTERS if ord(char) not in uniform or ord(char) % 101 == 0]
    for start in range(0, len(some), 1000):
        text = "0".join(some[start : start + 1000])  # marks belong to the digit, and jamo do not compose across it
        assert parts_of(canonical_text(text)) == reference.canonical_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't PANIC!", ["don", "t", "panic"]),
        ("co\u00adop\u200berate", ["cooperate"]),
        ("Straße, STRASSE, ＳＴＲＡẞＥ", ["strasse"] * 3),
        ("cafe\u0301 café CAFÉ", ["café"] * 3),
        ("½ ² Ⅳ ℃ ™ Ⓐ ㏂", ["1", "2", "2", "iv", "c", "tm", "a", "a", "m"]),
        ("!\u0301a a-\u0301b", [*"aab"]),
        ("naïve漢字かなカナー々abc", ["naïve", *"漢字かなカナー々", "abc"]),
        ("น้ำ ๑๒๓ Thai", ["น\u0e49\u0e4d", "า", "๑๒๓", "thai"]),
        ("모든 국민은 \u1106\u1169\u1103\u1173\u11ab", ["모든", "국민은", "모든"]),
        ("བོད་སྐད ﾊﾟﾝ हिन्दी, हिन्दी", ["བོད", "སྐད", "パ", "ン", *["हिन्दी"] * 2]),
        ("👩‍👩‍👧 x\ud800y\x00z\ue000\uffff", ["x", "y", "z"]),
        ("α\u0345\u0301 ᾴ ΆΙ", ["άι"] * 3),
        ("\u1100, \u1161b", ["가b"]),  # the kept characters compose, and so two words become one
        (" \u0301\u200d", []),
    ],
)
def test_words_of(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_consonants_of() -> None:
    text = "Don't PANIC! a é Ü x Æther, ъ, øl a\u0323\u0301b ªb 漢ab字 ﬁsh ½ α"
    assert " ".join(words(text, consonants=True)) == "dn t pnc x æthr ъ øl b b 漢 b 字 fsh 1 2 α"


# --- properties of the rule -------------------------------------------------------------------------------------------


@given(any_text, st.booleans())
def test_canonical_text_is_its_own_canonical_text(text: str, consonants: bool) -> None:
    chars = canonical_text(text, consonants=consonants).chars
    assert canonical_text(chars, consonants=consonants).chars == chars
    assert unicodedata2.normalize("NFC", chars) == chars


def test_canonical_characters_are_their_own_canonical_text() -> None:
    text = " 0 ".join(CHARACTERS)
    for consonants in (False, True):
        chars = canonical_text(text, consonants=consonants).chars
        assert canonical_text(chars, consonants=consonants).chars == chars
        assert unicodedata2.normalize("NFC", chars) == chars


@given(any_text, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), st.booleans())
def test_every_normal_form_is_the_same(text: str, form: str, consonants: bool) -> None:
    canonical = canonical_text(text, consonants=consonants)
    normal = canonical_text(unicodedata2.normalize(form, text), consonants=consonants)
    assert (normal.chars, normal.words) == (canonical.chars, canonical.words)


def test_upper_and_lower_case_are_the_same() -> None:
    other = {
        char
        for char in CHARACTERS
        for variant in (char.upper(), char.lower(), char.title(), char.swapcase())
        if variant != char and canonical_text(variant).chars != canonical_text(char).chars
    }
    assert other == {"ı"}  # the Turkish dotless i: a letter of its own, which has the capital of another


@given(
    st.lists(st.text(st.sampled_from("aÉzжΣ漢か가ﬁ½\u0301\u0323")).map("b".__add__)),
    st.sampled_from(" ,\n\x00—\ud800€"),
)
def test_spacing_and_punctuation_only_separate_words(pieces: list[str], separator: str) -> None:
    apart = canonical_text(separator.join(pieces))
    together = canonical_text("".join(pieces))
    assert apart.chars == together.chars
    assert set(apart.words) >= set(together.words)


@given(st.lists(any_text), st.sampled_from(IGNORABLE))
def test_ignorable_characters_make_no_difference(pieces: list[str], ignorable: str) -> None:
    with_them = canonical_text(ignorable.join(pieces))
    without = canonical_text("".join(pieces))
    assert (with_them.chars, with_them.words) == (without.chars, without.words)


@given(any_text, st.sampled_from(["\x7f", "\xa0", "\u2003", "\U0001f600"]), st.booleans())
@example("Plain, ASCII text", "\U0001f600", True)
def test_the_width_of_the_string_makes_no_difference(text: str, wider: str, consonants: bool) -> None:
    canonical = canonical_text(text, consonants=consonants)
    assert parts_of(canonical_text(text + wider, consonants=consonants)) == parts_of(canonical)


# --- the map back -----------------------------------------------------------------------------------------------------


@given(any_text, st.booleans())
def test_offsets_never_decrease(text: str, consonants: bool) -> None:
    canonical = canonical_text(text, consonants=consonants)
    offsets = list(canonical.offsets)
    assert len(offsets) == len(canonical.chars)
    assert offsets == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)
    assert canonical.offsets is canonical.offsets


@given(any_text, st.booleans(), st.data())
def test_spans_lead_back(text: str, consonants: bool, data: st.DataObject) -> None:
    """Between clean cuts, a span has the same canonical characters.

    A cut is clean if the canonical texts of its two sides are the two parts of the whole canonical text.
    """
    canonical = canonical_text(text, consonants=consonants)
    chars, offsets = canonical.chars, [*canonical.offsets, len(text)]

    def is_clean(cut: int) -> bool:
        parts = text[: offsets[cut]], text[offsets[cut] :]
        return tuple(canonical_text(part, consonants=consonants).chars for part in parts) == (chars[:cut], chars[cut:])

    start = data.draw(st.integers(0, len(chars)))
    end = data.draw(st.integers(start, len(chars)))
    first, last = canonical.span(start, end)
    assert 0 <= first <= last <= len(text)
    assert (first < last) == (start < end)
    if is_clean(start) and is_clean(end):
        assert canonical_text(text[first:last], consonants=consonants).chars == chars[start:end]
    if start < end:
        assert not any(edge.isspace() or edge in ",.!" + IGNORABLE for edge in (text[first], text[last - 1]))


@given(st.text("aÉzжΣ漢か가ﬁ½, .!\u00ad\u0301\u0323\u1100\u1161"))
def test_cuts_are_clean(text: str) -> None:
    """Every cut is clean, except inside an expansion and before a mark."""
    canonical = canonical_text(text)
    offsets = canonical.offsets
    for cut in range(1, len(canonical.chars)):
        if offsets[cut] != offsets[cut - 1] and unicodedata.combining(canonical.chars[cut]) == 0:
            assert canonical_text(text[: offsets[cut]]).chars == canonical.chars[:cut]
            assert canonical_text(text[offsets[cut] :]).chars == canonical.chars[cut:]


def test_spans_of() -> None:
    canonical = canonical_text("  «Cafe\u0301», ﬁn.. ")
    assert canonical.chars == "caféfin"
    assert canonical.span(0, 4) == (3, 8)
    assert canonical.span(0, 7) == (3, 13)
    assert canonical.span(3, 4) == (6, 8)
    assert canonical.span(4, 5) == canonical.span(5, 6) == (11, 12)
    assert canonical.span(4, 4) == (11, 11)
    assert canonical.span(7, 7) == (13, 13)
    assert canonical.spans(array("I", [0, 3]), 4) == [(3, 8), (6, 13)]
    assert canonical.spans([], 4) == []
    assert canonical_text("").span(0, 0) == (0, 0)


# --- large texts ------------------------------------------------------------------------------------------------------


UNITS = [
    "The quick brown fox, etc. ",
    "Füße. ",
    "e\u0301\u0323x\u0323\u0301\u0300 ",
    "漢字カ\u3099ﷺ½ ",
    "αα\u0345\u0301 ",
]
UNITS += ["\u1100\u1161\u11a8\u1112\u1161 ", "𝔘𐐀👩 "]


@pytest.mark.parametrize("unit", UNITS)
def test_long_texts_are_read_in_blocks(unit: str) -> None:
    chars, starts, offsets = parts_of(canonical_text(unit))
    for times in (65_536 // len(chars) + 2, 200_000 // len(chars)):
        canonical = canonical_text(unit * times)
        assert canonical.chars == chars * times
        assert list(canonical.words) == [start + i * len(chars) for i in range(times) for start in starts]
        assert list(canonical.offsets) == [offset + i * len(unit) for i in range(times) for offset in offsets]


@pytest.mark.parametrize("base", ["a", "!", "\u1100"])
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0323", "\u0345\u0301"])
def test_a_text_of_marks_takes_linear_time(base: str, marks: str) -> None:
    times = 300_000
    canonical = canonical_text(base + marks * times + " z")
    if base == "!":
        expected = "ι" * times * ("\u0345" in marks)
    else:
        expected = unicodedata2.normalize("NFC", base + marks * times).replace("\u0345", "ι")
    assert canonical.chars == expected + "z"
    assert len(canonical.offsets) == len(canonical.chars)


# --- Unicode ----------------------------------------------------------------------------------------------------------


@pytest.mark.check
def test_the_tables_are_up_to_date_with_the_tool(root: Path) -> None:
    assert (root / "cython_core" / "unicode_tables.h").read_text(encoding="ascii") == header()


def test_agrees_with_the_unicode_of_this_python() -> None:
    """Compare every character that both this Python and the tables know; exceptions are listed with the reason."""

    def expected(char: str) -> str:
        before, after = "", char
        while before != after:
            before, after = after, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", after).casefold())
        kept = ""
        for part in unicodedata.normalize("NFD", after):
            if (kind := unicodedata.category(part)[0]) in "LN" or (kind == "M" and kept):
                kept += part
        return unicodedata.normalize("NFC", kept)

    known = [char for char in CHARACTERS if "Cn" not in (unicodedata.category(char), unicodedata2.category(char))]
    other = {char for char in known if canonical_text(char).chars != expected(char)}
    assert other == set("\u115f\u1160\u3164\uffa0")  # Hangul fillers, which are letters by category and ignorable


# --- arguments --------------------------------------------------------------------------------------------------------


def test_errors_name_what_was_expected() -> None:
    for wrong in (b"bytes", bytearray(), None, 7, ["text"]):
        refused(TypeError, rf"canonical_text\(\) expects str, got {type(wrong).__name__}", canonical_text, wrong)
    span = canonical_text("a b").span
    for start, end in ((-1, 1), (2, 1), (0, 3), (3, 3), (0, 2**70)):
        refused(ValueError, "a range of 2 canonical characters", span, start, end)
    refused(TypeError, "expects two ints, got float and int", span, 0.5, 1)


def test_takes_any_string() -> None:
    class Title(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "something else"

    assert canonical_text(Title("A, b")).chars == "ab"
    assert type(canonical_text(Title("A, b")).text) is str


def test_attributes_are_read_only() -> None:
    canonical = canonical_text("Ab c", consonants=True)
    assert (canonical.text, canonical.chars, canonical.consonants) == ("Ab c", "bc", True)
    assert canonical.words.typecode == canonical.offsets.typecode == "I"
    refused(AttributeError, "chars", setattr, canonical, "chars", "x")
