from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.queries.phrases import MAX_UNWANTED, MAX_WANTED, Phrase, phrase, phrases
from opensearch_winnow.queries.words import Term, Words


@pytest.mark.parametrize(
    ("term", "words", "prefix", "typed"),
    [
        (Term("Apple"), ["apple"], "", "Apple"),
        (Term("fruit-tree, old"), ["fruit", "tree", "old"], "", "fruit-tree, old"),
        (Term("Éta", prefix=True), [], "eta", ""),
        (Term("well-Kn", prefix=True), ["well"], "kn", "well-"),
        (Term("日本", prefix=True), ["日", "本"], "", "日本"),  # no word is longer than a character
        (Term("ไทย", prefix=True), ["ไ", "ท", "ย"], "", "ไทย"),
        (Term("日abc", prefix=True), ["日"], "abc", "日"),
        (Term("한국", prefix=True), [], "한국", ""),
        (Term("+!", prefix=True), [], "", "+!"),
    ],
)
def test_a_term(term: Term, words: list[str], prefix: str, typed: str) -> None:
    found = phrase(term)
    assert (list(found.words), found.prefix, found.typed) == (words, prefix, typed)


def test_neither_repetitions_nor_what_is_no_word() -> None:
    apple, pear, pea = Phrase(("apple",)), Phrase(("pear",)), Phrase((), "pea")
    assert phrases(Words.of('apple APPLE + "Äpple" -pea* -Pea* -!')) == ([[apple]], [pea])
    assert phrases(Words.of("apple OR pear OR apple Apple OR Pear apple ! OR +")) == ([[apple, pear], [apple]], [])
    assert phrases(Words.of('+ "" -apple')) == ([], [apple])


@pytest.mark.parametrize("any_word", [False, True])
def test_as_many_as_engines_take(any_word: bool) -> None:
    typed = [f"word{number} not{number}-a*" for number in range(1_000)]
    found = phrases(Words.of(" ".join([*typed, *(f"-x{part} -{part}" for part in typed)]), any_word=any_word))
    wanted = [each for alternatives in found.wanted for each in alternatives]
    for kept, most in ((wanted, MAX_WANTED), (found.unwanted, MAX_UNWANTED)):
        assert sum(bool(each.words) + bool(each.prefix) for each in kept) == most
    assert wanted[:2] == [Phrase(("word0",)), Phrase(("not0",), "a")]


@given(st.text(), st.booleans())
def test_what_was_typed_has_the_words(text: str, prefix: bool) -> None:
    found = phrase(Term(text, prefix))
    assert tuple(word_tokens(found.typed)[0]) == found.words
    assert [*found.words, *filter(None, [found.prefix])] == word_tokens(text)[0]
