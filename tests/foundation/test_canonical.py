"""Tests the canonical text in all forms of a scheme."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme
from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.code_tokens import code_text
from tests.refused import refused

NAMES = (None, "page.txt", "https://example.org/page.py")


@given(st.text(), st.sampled_from(NAMES))
def test_text_and_consonants_are_those_of_the_core_whatever_the_name(text: str, name: str | None) -> None:
    for scheme in (Scheme(), Scheme(form="consonants")):
        ours, core = canonical(text, scheme, name=name), canonical_text(text, consonants=scheme.consonants)
        assert (ours.text, ours.chars, ours.words, ours.offsets) == (core.text, core.chars, core.words, core.offsets)


@pytest.mark.parametrize("name", NAMES)
def test_code_is_in_the_language_of_its_name(name: str | None) -> None:
    text = "for each in every:  # one after the other\n    pass\n"
    ours, code = canonical(text, Scheme(form="code"), name=name), code_text(text, name)
    assert (ours.chars, ours.words, ours.offsets) == (code.chars, code.words, code.offsets)
    assert len(ours.words) == len(ours.chars) == 6


def test_bytes_are_refused_in_words() -> None:
    for form in ("text", "consonants", "code"):
        refused(TypeError, "expects str, got bytes: decode it first", canonical, b"bytes", Scheme(form=form))


# --- a canonical text from its parts ----------------------------------------------------------------------------------

TOKENS = "foo  +(bar)"  # as three canonical characters


def parts(text: str, chars: str, words: list[int], offsets: list[int], ends: list[int]) -> CanonicalText:
    return CanonicalText.from_parts(text, chars, *(array("I", each) for each in (words, offsets, ends)))


def test_a_canonical_text_from_its_parts() -> None:
    canonical = parts(TOKENS, "v+V", [0, 2], [0, 5, 7], [3, 6, 10])
    assert (canonical.text, canonical.chars, canonical.consonants) == (TOKENS, "v+V", False)
    assert (canonical.words, canonical.offsets) == (array("I", [0, 2]), array("I", [0, 5, 7]))
    spans = {(0, 1): (0, 3), (0, 3): (0, 10), (1, 1): (5, 5), (3, 3): (10, 10)}
    assert {each: canonical.span(*each) for each in spans} == spans
    assert canonical.spans([0, 1], 2) == [(0, 6), (5, 10)]
    assert parts("anything", "", [], [], []).span(0, 0) == (0, 0)


def test_its_parts_are_its_own() -> None:
    words, offsets, ends = array("I", [0]), array("I", [0]), array("I", [1])
    canonical = CanonicalText.from_parts("x", "X", words, offsets, ends)
    words[0], offsets[0], ends[0] = 7, 7, 7
    assert (canonical.words[0], canonical.offsets[0], canonical.span(0, 1)) == (0, 0, (0, 1))


@given(st.text(), st.booleans())
def test_the_parts_of_a_canonical_text_have_its_shingles(text: str, consonants: bool) -> None:
    canonical = canonical_text(text, consonants=consonants)
    ends = array("I", (end for _, end in canonical.spans(range(len(canonical.chars)), 1)))
    if list(ends) == sorted(ends):  # a mark of one base can be put before one that came earlier
        again = CanonicalText.from_parts(text, canonical.chars, canonical.words, canonical.offsets, ends)
        assert (again.chars, again.words, again.offsets) == (canonical.chars, canonical.words, canonical.offsets)
        assert shingles(again, 2) == shingles(canonical, 2)


@pytest.mark.parametrize(
    ("chars", "starts", "offsets", "ends", "message"),
    [
        ("ab", [0], [0], [1, 2], "each of 2 canonical characters, got 1 and 2"),
        ("ab", [0], [0, 1], [1], "got 2 and 1"),
        ("ab", [], [0, 1], [1, 2], "words to start in 2 canonical characters, the first at 0"),
        ("", [0], [], [], "words to start in 0 canonical characters"),
        ("ab", [1], [0, 1], [1, 2], "the first at 0"),
        ("ab", [0, 2], [0, 1], [1, 2], "words to start in 2"),
        ("abc", [0, 1, 1], [0, 1, 2], [1, 2, 3], "word 1 has none"),
        ("abc", [0, 2, 1], [0, 1, 2], [1, 2, 3], "word 1 has none"),
        ("ab", [0], [1, 0], [2, 3], r"canonical character 1 has \[0, 3\)"),
        ("ab", [0], [0, 1], [3, 2], r"canonical character 1 has \[1, 2\)"),
        ("ab", [0], [0, 1], [0, 2], r"canonical character 0 has \[0, 0\)"),
        ("ab", [0], [0, 1], [1, 4], r"canonical character 1 has \[1, 4\)"),
        ("ab", [0], [0, 2**32 - 1], [1, 2**32 - 1], "canonical character 1"),
    ],
)
def test_parts_that_do_not_fit(
    chars: str, starts: list[int], offsets: list[int], ends: list[int], message: str
) -> None:
    refused(ValueError, message, parts, "xyz", chars, starts, offsets, ends)


def test_says_which_part_is_wrong() -> None:
    good: list[object] = ["x", "x", array("I", [0]), array("I", [0]), array("I", [1])]
    for i, name in enumerate(("text", "chars", "words", "offsets", "ends")):
        for wrong in (None, b"x", [0], array("Q", [0])):
            words, changed = rf"from_parts\(\) expects {name} to be", [*good[:i], wrong, *good[i + 1 :]]
            refused(TypeError, words, CanonicalText.from_parts, *changed)
