"""Merged segments equal the index of all their pages."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_segments import MergedSegments, document_frequencies, find_prefix, find_word
from opensearch_winnow.cython_core.word_tokens import word_tokens

WORDS = st.sampled_from(["a", "ab", "abc", "abd", "b", "été", "日", "z" * 255])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)
PAGES = st.lists(st.tuples(st.lists(WORDS, max_size=3).map(" ".join), TEXTS), max_size=5)

Pages = list[tuple[str, str]]
Block = tuple[str, bytes, bytes]


def blocks(pages: Pages, numbers: list[int] | None = None) -> list[Block]:
    found, titles, texts = word_index(
        range(len(pages)) if numbers is None else numbers, [title for title, _ in pages], [text for _, text in pages]
    )
    assert [(title, text) for title, text in zip(titles, texts, strict=True)] == [
        (len(word_tokens(title)[0]), len(word_tokens(text)[0])) for title, text in pages
    ]
    return found


def stored(some: list[Block]) -> list[tuple[bytes, bytes]]:
    return [(words, places) for _, words, places in some]


def many(source: Random, count: int) -> Pages:
    """Return pages whose words fill several blocks."""
    words = [f"w{source.randrange(10 ** source.randrange(1, 5))}" for _ in range(200 * count)]
    return [(" ".join(words[start : start + 3]), " ".join(words[start:][:200])) for start in range(0, len(words), 200)]


@given(st.lists(PAGES, min_size=1, max_size=4))
def test_merged_segments(segments: list[Pages]) -> None:
    starts = [sum(map(len, segments[:place])) for place in range(len(segments))]
    merged = MergedSegments([(start, stored(blocks(pages))) for start, pages in zip(starts, segments, strict=True)])
    assert list(merged) == blocks([page for pages in segments for page in pages])


@given(st.lists(PAGES, min_size=1, max_size=3), st.sets(st.integers(0, 14)))
def test_merged_segments_without_deleted_pages(segments: list[Pages], dropped: set[int]) -> None:
    starts = [sum(map(len, segments[:place])) for place in range(len(segments))]
    pages = [page for pages in segments for page in pages]
    deleted = bytes(number in dropped for number in range(len(pages)))
    merged = MergedSegments(
        [(start, stored(blocks(some))) for start, some in zip(starts, segments, strict=True)], deleted
    )
    left = [number for number in range(len(pages)) if number not in dropped]
    assert list(merged) == blocks([pages[number] for number in left], left)


def test_segments_of_many_blocks() -> None:
    source = Random(4)
    segments = [many(source, count) for count in (30, 1, 200, 7)]
    starts = [0, 30, 31, 231]
    whole = blocks([page for pages in segments for page in pages])
    assert len(whole) > 10
    assert (
        list(MergedSegments([(at, stored(blocks(pages))) for at, pages in zip(starts, segments, strict=True)])) == whole
    )
    deleted = bytes(number % 3 == 0 for number in range(238))
    left = [number for number in range(238) if number % 3]
    assert list(MergedSegments([(0, stored(whole))], deleted)) == blocks(
        [[page for pages in segments for page in pages][number] for number in left], left
    )


@given(PAGES, st.sets(st.integers(0, 4)))
def test_words_and_prefixes_are_found(pages: Pages, dropped: set[int]) -> None:
    found = blocks(pages)
    deleted = bytes(number in dropped for number in range(len(pages)))
    fields = [[Counter(word_tokens(field)[0]) for field in page] for page in pages]
    for word in ("a", "ab", "ac", "abd", "ete", "日", "z" * 255, "zz"):
        there = [each for _, words, _ in found if (each := find_word(words, word))]
        expected = [sum(page[which][word] > 0 for page in fields) for which in (0, 1)]
        assert len(there) == bool(sum(expected))
        for in_pages, first, last in there:
            assert document_frequencies(in_pages) == tuple(expected)
            assert last - first >= sum(page[which][word] for page in fields for which in (0, 1))
            assert document_frequencies(in_pages, deleted) == tuple(
                sum(page[which][word] > 0 for number, page in enumerate(fields) if number not in dropped)
                for which in (0, 1)
            )
    for start in ("a", "ab", "abc", "x", "z"):
        words = {word for page in fields for field in page for word in field if word.startswith(start)}
        assert len([each for _, block, _ in found for each in find_prefix(block, start)]) == len(words)


def test_corrupt_input_is_rejected() -> None:
    with pytest.raises(ValueError, match="a title and a text for each of 2 pages"):
        word_index([0, 1], ["a"], ["b"])
    with pytest.raises(ValueError, match="in ascending order, from 0, but 1 follows 1"):
        word_index([1, 1], ["a", "b"], ["", ""])
    (block,) = stored(blocks([("a", "b c"), ("", "a")]))
    cut = (block[0][:-1], block[1])
    corrupt: list[list[tuple[int, list[tuple[bytes, bytes]]]]] = [
        [(0, [block]), (0, [block])],
        [(0, [block, block])],
        [(0, [cut])],
        [(-1, [])],
    ]
    for segments in corrupt:
        with pytest.raises(ValueError, match=r"is corrupt|cannot be shifted"):
            list(MergedSegments(segments))
    with pytest.raises(ValueError, match="is corrupt"):
        find_word(block[0][:-1], "z")
    with pytest.raises(ValueError, match="is corrupt"):
        document_frequencies(b"")
