from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_scores import Bm25, BooleanScorer, encode_length
from opensearch_winnow.cython_core.word_segments import find_word

TEXTS = ["a b", "b a b", "c", "", "a"]


def single(value: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


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
    assert all(single(score) == score for score in scores)


def test_required_and_excluded_clauses() -> None:
    def found(*steps: str, deleted: bytes | None = None) -> list[int]:
        """Return the hits of a query: a letter adds a word to the clause, + requires the clause, - excludes it."""
        scored = scorer(deleted)
        for step in "".join(steps):
            if step == "+":
                scored.require()
            elif step == "-":
                scored.exclude()
            else:
                scored.add_word(WORDS[step][0], WEIGHT, WEIGHT)
        return list(scored.hits(0)[0])

    assert found("a+") == [0, 1, 4]
    assert found("a+b+") == [0, 1]
    assert found("ac+") == [0, 1, 2, 4]
    assert found("ac+b-") == [2, 4]
    assert found("b-ac+") == [2, 4]
    assert found("a+c+") == []
    assert found("a+", deleted=bytes([0, 1, 0, 0, 1])) == [0]


def test_phrases() -> None:
    def found(*words: str) -> list[int]:
        different = sorted(set(words))
        scored = scorer()
        order = [different.index(word) for word in words]
        scored.add_phrase([WORDS[word] for word in different], order, WEIGHT, WEIGHT)
        scored.require()
        return list(scored.hits(0)[0])

    assert found("a", "b") == [0, 1]
    assert found("b", "a") == [1]
    assert found("b", "a", "b") == [1]
    assert found("a", "a") == []
    assert found("a", "c") == []


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
    with pytest.raises(ValueError, match="a length, and a byte of"):
        BooleanScorer(b"123", b"12")
    for wrong in (b"", postings[:1], postings + b"\x80", postings + bytes([40 << 2, 1])):
        with pytest.raises(ValueError, match="is corrupt"):
            scorer().add_word(wrong, WEIGHT, WEIGHT)
        with pytest.raises(ValueError, match="is corrupt"):
            scorer().add_prefix([wrong], 1.0, 1.0)
        with pytest.raises(ValueError, match="is corrupt"):
            scorer().add_phrase([(wrong, positions)], [0, 0], WEIGHT, WEIGHT)
    with pytest.raises(ValueError, match="is corrupt"):
        scorer().add_phrase([(postings, positions[:1])], [0, 0], WEIGHT, WEIGHT)
    with pytest.raises(ValueError, match="has no word 1"):
        scorer().add_phrase([(postings, positions)], [0, 1], WEIGHT, WEIGHT)
    with pytest.raises(ValueError, match="of the same pages"):
        scorer().add_scorer(BooleanScorer(b"1", b"1"))
