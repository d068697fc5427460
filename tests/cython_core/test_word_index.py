"""Merged segments equal the index of all their pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Any

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_segments import MergedSegments, document_frequencies, find_prefix, find_word
from opensearch_winnow.cython_core.word_tokens import word_tokens
from tests.refused import refused

WORDS = st.sampled_from(["a", "ab", "abc", "abd", "b", "été", "日", "z" * 255])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)
PAGES = st.lists(st.tuples(st.lists(WORDS, max_size=3).map(" ".join), TEXTS), max_size=5)

Pages = list[tuple[str, str]]
Block = tuple[str, bytes, bytes]


def blocks(pages: Pages, numbers: Sequence[int] | None = None) -> list[Block]:
    titles, texts = [title for title, _ in pages], [text for _, text in pages]
    found, *lengths = word_index(range(len(pages)) if numbers is None else numbers, titles, texts)
    assert [list(each) for each in lengths] == [
        [len(word_tokens(text)[0]) for text in each] for each in (titles, texts)
    ]
    return found


def stored(some: list[Block]) -> list[tuple[bytes, bytes]]:
    return [(words, places) for _, words, places in some]


def many(source: Random, count: int) -> Pages:
    """Return pages whose words fill several blocks."""
    words = [f"w{source.randrange(10 ** source.randrange(1, 5))}" for _ in range(200 * count)]
    return [(" ".join(words[start : start + 3]), " ".join(words[start:][:200])) for start in range(0, len(words), 200)]


def merged(segments: list[Pages], deleted: bytes | None = None) -> list[Block]:
    starts = accumulate(map(len, segments), initial=0)
    return list(
        MergedSegments([(at, stored(blocks(some))) for at, some in zip(starts, segments, strict=False)], deleted)
    )


@given(st.lists(PAGES, min_size=1, max_size=4), st.sets(st.integers(0, 14)))
def test_merged_segments(segments: list[Pages], dropped: set[int]) -> None:
    pages = [page for pages in segments for page in pages]
    assert merged(segments) == blocks(pages)
    left = [number for number in range(len(pages)) if number not in dropped]
    deleted = bytes(number in dropped for number in range(len(pages)))
    assert merged(segments, deleted) == blocks([pages[number] for number in left], left)


def test_segments_of_many_blocks() -> None:
    source = Random(4)
    segments = [many(source, count) for count in (30, 1, 200, 7)]
    pages = [page for pages in segments for page in pages]
    whole = blocks(pages)
    assert len(whole) > 10
    assert merged(segments) == whole
    left = [number for number in range(238) if number % 3]
    deleted = bytes(number % 3 == 0 for number in range(238))
    assert merged([pages], deleted) == blocks([pages[number] for number in left], left)


@given(PAGES, st.sets(st.integers(0, 4)))
def test_words_and_prefixes_are_found(pages: Pages, dropped: set[int]) -> None:
    found = blocks(pages)
    deleted = bytes(number in dropped for number in range(len(pages)))
    fields = [[Counter(word_tokens(field)[0]) for field in page] for page in pages]
    kept = [page for number, page in enumerate(fields) if number not in dropped]
    for word in ("a", "ab", "ac", "abd", "ete", "日", "z" * 255, "zz"):
        there = [each for _, words, _ in found if (each := find_word(words, word))]
        expected, left = (
            tuple(sum(page[which][word] > 0 for page in some) for which in (0, 1)) for some in (fields, kept)
        )
        assert len(there) == bool(sum(expected))
        for in_pages, first, last in there:
            assert document_frequencies(in_pages) == expected
            assert last - first >= sum(field[word] for page in fields for field in page)
            assert document_frequencies(in_pages, deleted) == left
    for start in ("a", "ab", "abc", "x", "z"):
        words = {word for page in fields for field in page for word in field if word.startswith(start)}
        assert len([each for _, block, _ in found for each in find_prefix(block, start)]) == len(words)


def test_corrupt_input_is_rejected() -> None:
    refused(ValueError, "a title and a text for each of 2 pages", word_index, [0, 1], ["a"], ["b"])
    refused(ValueError, "from 0, but 1 follows 1", word_index, [1, 1], ["a", "b"], ["", ""])
    (block,) = stored(blocks([("a", "b c"), ("", "a")]))
    cut = block[0][:-1]
    segments: Any
    for segments in ([(0, [block]), (0, [block])], [(0, [block, block])], [(0, [(cut, block[1])])], [(-1, [])]):
        refused(ValueError, "is corrupt|cannot be shifted", lambda each: list(MergedSegments(each)), segments)
    refused(ValueError, "is corrupt", find_word, cut, "z")
    refused(ValueError, "is corrupt", document_frequencies, b"")
