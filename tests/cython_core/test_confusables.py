"""Canonical text in which letters that look alike are one."""

from __future__ import annotations

import pytest
import unicodedata2
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from tests.cython_core import reference
from tests.cython_core.test_canonical_text import any_text, parts_of
from tools.confusables import is_kept, prototypes
from tools.unicode_tables import CHARACTERS, looks

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("confusables")]  # `looks` takes seconds, once

alike = st.text("il1mrnо0oаaеёйвВνΝθөɵьыюמηŋκсﬁ①漢二ニ一ー〇ノ/|, .\u0301\u0308\u0345\u0323\u200b𝐦Ⅿ١ا٠", max_size=12)
texts = st.one_of(any_text, alike)


def folded(text: str, consonants: bool = False) -> str:
    return canonical_text(text, consonants=consonants, fold_confusables=True).chars


@given(texts, st.booleans())
def test_compiled_is_reference(text: str, consonants: bool) -> None:
    canonical = canonical_text(text, consonants=consonants, fold_confusables=True)
    assert parts_of(canonical) == reference.canonical_text(text, consonants, looks())


def test_compiled_is_reference_for_every_letter_that_looks_like_another() -> None:
    changed = [char for char in CHARACTERS if folded(char) != canonical_text(char).chars]
    assert len(changed) > len(prototypes()) / 3
    for text in ("0".join(changed), "\u0301".join(changed)):
        assert parts_of(canonical_text(text, fold_confusables=True)) == reference.canonical_text(text, looks=looks())


@given(texts, st.booleans())
def test_folded_text_is_its_own_folded_text(text: str, consonants: bool) -> None:
    chars = folded(text, consonants)
    assert folded(chars, consonants) == chars
    assert canonical_text(chars, consonants=consonants).chars == chars
    assert unicodedata2.normalize("NFC", chars) == chars


@given(texts, st.booleans(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_texts_with_the_same_canonical_text_are_folded_alike(text: str, consonants: bool, form: str) -> None:
    assert folded(canonical_text(text).chars, consonants) == folded(text, consonants)
    assert folded(unicodedata2.normalize(form, text), consonants) == folded(text, consonants)


@pytest.mark.parametrize("consonants", [False, True])
def test_folded_characters_are_their_own_folded_text(consonants: bool) -> None:
    chars = folded(" 0 ".join(CHARACTERS), consonants)
    assert folded(chars, consonants) == chars


@given(texts, st.booleans(), st.data())
def test_spans_lead_back(text: str, consonants: bool, data: st.DataObject) -> None:
    canonical = canonical_text(text, consonants=consonants, fold_confusables=True)
    chars, offsets = canonical.chars, [*canonical.offsets, len(text)]
    assert offsets == sorted(offsets)

    def is_clean(cut: int) -> bool:
        parts = text[: offsets[cut]], text[offsets[cut] :]
        return tuple(folded(part, consonants) for part in parts) == (chars[:cut], chars[cut:])

    start = data.draw(st.integers(0, len(chars)))
    end = data.draw(st.integers(start, len(chars)))
    first, last = canonical.span(start, end)
    assert (first < last) == (start < end)
    if is_clean(start) and is_clean(end):
        assert folded(text[first:last], consonants) == chars[start:end]


# --- the table of Unicode ---------------------------------------------------------------------------------------------


def test_every_letter_has_the_look_of_its_prototype() -> None:
    jamo = {chr(code) for code in range(0x1100, 0x1200)}  # they compose to syllables, which look like nothing else
    kirat_rai = {chr(code) for code in range(0x16D63, 0x16D6B)}  # its vowels compose too
    other = {
        char
        for char, prototype in prototypes().items()
        if all(map(is_kept, char + prototype))
        and canonical_text(char).chars == char  # a small letter, and no compatibility form
        and not {*char, *prototype} & (jamo | kirat_rai)
        and folded(char) != folded(prototype.replace("rn", "m"))  # the prototype of m is rn: every m would count twice
    }
    assert other == set("βᏰꞵꟗ")  # their prototype is ß, which case folding turns into ss


def test_capitals_that_do_not_look_like_their_small_letters() -> None:
    """Capitals and small letters are one letter, so the look of a capital can be lost: here, that of a Latin letter."""
    latin = {char: to for char, to in prototypes().items() if to.isascii() and to.isalpha()}
    capitals = {char for char in latin if unicodedata2.category(char) == "Lu"}
    simple = {char for char in capitals if unicodedata2.normalize("NFKD", char) == char}
    assert {char for char in simple if folded(char) != folded(latin[char])} == set("ΝΥ𑢦𑢵𑢼")


@pytest.mark.parametrize(
    ("disguised", "plain"),
    [
        ("Тhе МilIеr kееps twо siеvеs", "The Miller keeps two sieves"),
        *[("ВНКМТ АСЕОРХ", "BHKMT ACEOPX"), ("ΑΒΕΖΗΙΚΜΟΡΤΧ ορ", "ABEZHIKMOPTX op")],
        ("ｆｕｌｌ 𝐛𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 ⅿⅽⅾ", "full bold script fraktur mcd"),
        *[("cаfе\u0301 nаїve", "café naïve"), ("1Oo", "lO0"), ("2O1O", "2010")],
    ],
)
def test_disguised_text_is_plain_text(disguised: str, plain: str) -> None:
    assert folded(disguised) == folded(plain)


@pytest.mark.parametrize("text", ["abcdefghjkpqstuvwxyz23456789", "한국어 시험", "漢字かな交じり文"])
def test_letters_that_look_like_nothing_else_stay(text: str) -> None:
    assert set(folded(text)) - set(canonical_text(text).chars) <= {"l", "o"}


def test_different_letters_of_one_alphabet_stay_apart() -> None:
    for alphabet, pairs in {
        "abcdefghijklmnopqrstuvwxyz": {("i", "l")},
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя": {("в", "ь")},
        "αβγδεζηθικλμνξοπρστυφχψω": {("ο", "σ")},
    }.items():
        assert {(a, b) for a in alphabet for b in alphabet if a < b and folded(a) == folded(b)} == pairs
