from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_scores import Bm25, BooleanScorer, encode_length
from opensearch_winnow.cython_core.word_segments import find_word
from tests.refused import refused

TEXTS = ["a b", "b a b", "c", "", "a"]


def scorer(deleted: bytes | None = None) -> BooleanScorer:
    return BooleanScorer(bytes(len(TEXTS)), bytes(encode_length(len(text.split())) for text in TEXTS), deleted)


def postings_and_positions(word: str) -> tuple[bytes, bytes]:
    (block,) = word_index(range(len(TEXTS)), [""] * len(TEXTS), TEXTS)[0]
    found = find_word(block[1], word)
    assert found is not None
    return found[0], block[2][found[1] : found[2]]


WEIGHT = Bm25(1.0, 4, 7, [2])
WORDS = {word: postings_and_positions(word) for word in "abc"}


@given(st.integers(0, 2**31 - 1))
def test_encoded_lengths_keep_the_order_and_four_binary_digits(length: int) -> None:
    short = encode_length(length)
    assert 0 <= short <= 255
    assert short <= encode_length(min(length + 1, 2**31 - 1)) <= short + 1
    assert short == length or length >= 40
    assert short < encode_length(min(length + max(length // 7, 1), 2**31 - 1)) or length > 2**30


def test_bm25_is_the_formula() -> None:
    """Scores are in single precision, computed step by step as in Lucene."""
    scored = scorer()
    scored.add_word(WORDS["b"][0], WEIGHT, WEIGHT)
    scored.require()
    numbers, scores = scored.hits(10)
    assert list(numbers) == [10, 11]
    # log(1 + 2.5 / 2.5), and lengths of 2 and 3 words beside 7 / 4
    idf = 0.6931471805599453
    expected = [idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.75)), idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 1.75))]
    assert list(scores) == pytest.approx(expected, rel=1e-6)
    assert scores.typecode == "f"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [("a+", [0, 1, 4]), ("a+b+", [0, 1]), ("ac+", [0, 1, 2, 4]), ("ac+b-", [2, 4]), ("b-ac+", [2, 4]), ("a+c+", [])],
)
def test_required_and_excluded_clauses(steps: str, expected: list[int]) -> None:
    """A letter adds a word to the clause, + requires the clause, - excludes it."""
    for deleted in (None, bytes([0, 1, 0, 0, 1])):
        scored = scorer(deleted)
        for step in steps:
            if step == "+":
                scored.require()
            elif step == "-":
                scored.exclude()
            else:
                scored.add_word(WORDS[step][0], WEIGHT, WEIGHT)
        assert list(scored.hits(0)[0]) == [number for number in expected if not deleted or not deleted[number]]


@pytest.mark.parametrize(("phrase", "expected"), [("ab", [0, 1]), ("ba", [1]), ("bab", [1]), ("aa", []), ("ac", [])])
def test_phrases(phrase: str, expected: list[int]) -> None:
    different, scored = sorted(set(phrase)), scorer()
    scored.add_phrase([WORDS[word] for word in different], list(map(different.index, phrase)), WEIGHT, WEIGHT)
    scored.require()
    assert list(scored.hits(0)[0]) == expected


def test_a_prefix_counts_once_per_field() -> None:
    scored = scorer()
    scored.add_prefix([WORDS["a"][0], WORDS["b"][0]], 4.0, 1.0)
    scored.require()
    assert [list(each) for each in scored.hits(0)] == [[0, 1, 4], [1.0, 1.0, 1.0]]


def test_a_board_within_a_scorer() -> None:
    both, scored = scorer(), scorer()
    for word in "ab":
        both.add_word(WORDS[word][0], WEIGHT, WEIGHT)
        both.require()
    scored.add_scorer(both)
    scored.add_word(WORDS["c"][0], WEIGHT, WEIGHT)
    scored.require()
    numbers, scores = scored.hits(0)
    assert list(numbers) == [0, 1, 2]
    assert list(scores)[:2] == list(both.hits(0)[1])


def test_corrupt_input_is_rejected() -> None:
    postings, positions = WORDS["b"]
    weights = WEIGHT, WEIGHT
    refused(ValueError, "a length, and a byte of", BooleanScorer, b"123", b"12")
    for wrong in (b"", postings[:1], postings + b"\x80", postings + bytes([40 << 2, 1])):
        refused(ValueError, "is corrupt", scorer().add_word, wrong, *weights)
        refused(ValueError, "is corrupt", scorer().add_prefix, [wrong], 1.0, 1.0)
        refused(ValueError, "is corrupt", scorer().add_phrase, [(wrong, positions)], [0, 0], *weights)
    refused(ValueError, "is corrupt", scorer().add_phrase, [(postings, positions[:1])], [0, 0], *weights)
    refused(ValueError, "has no word 1", scorer().add_phrase, [(postings, positions)], [0, 1], *weights)
    refused(ValueError, "of the same pages", scorer().add_scorer, BooleanScorer(b"1", b"1"))
