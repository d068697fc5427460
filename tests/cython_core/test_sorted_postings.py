"""Sorted postings, compared with sorted sets of pairs."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.sorted_postings import (
    document_frequency_histogram,
    drop_pages,
    merge_postings,
    sorted_postings,
)
from tests.refused import refused

TOKEN = st.integers(0, 3) | st.integers(0, 2**64 - 1)
NUMBER = st.integers(0, 5) | st.integers(0, 2**32 - 1)
PAIRS = st.sets(st.tuples(TOKEN, NUMBER), max_size=50)


def arrays(pairs: set[tuple[int, int]]) -> tuple[array[int], array[int]]:
    tokens, pages = array("Q"), array("I")
    for token, page in sorted(pairs):
        tokens.append(token)
        pages.append(page)
    return tokens, pages


@given(st.lists(st.tuples(NUMBER, st.lists(TOKEN, max_size=20)), max_size=20))
def test_postings_of_pages(pages: list[tuple[int, list[int]]]) -> None:
    tokens = array("Q", chain.from_iterable(tokens for _, tokens in pages))
    counts, numbers = array("I", (len(tokens) for _, tokens in pages)), array("I", (number for number, _ in pages))
    pairs = {(token, number) for number, tokens in pages for token in tokens}
    assert sorted_postings(tokens, counts, numbers) == arrays(pairs)


@given(PAIRS, PAIRS)
def test_merge_postings_is_the_union(a: set[tuple[int, int]], b: set[tuple[int, int]]) -> None:
    assert merge_postings(*arrays(a), *arrays(b)) == arrays(a | b)


@given(PAIRS, st.sets(NUMBER, max_size=9))
def test_drop_pages(pairs: set[tuple[int, int]], dropped: set[int]) -> None:
    kept = {pair for pair in pairs if pair[1] not in dropped}
    assert drop_pages(*arrays(pairs), array("I", sorted(dropped))) == arrays(kept)


@given(PAIRS)
def test_document_frequency_histogram(pairs: set[tuple[int, int]]) -> None:
    assert document_frequency_histogram(arrays(pairs)[0]) == Counter(Counter(token for token, _ in pairs).values())


def test_errors_name_what_was_expected() -> None:
    tokens, pages, one = array("Q", [1, 2]), array("I", [1, 2]), array("I", [1])
    for wrong in (None, [1], array("q", [1]), "Q"):
        for call, arguments in (
            (sorted_postings, (wrong, pages, pages)),
            (sorted_postings, (tokens, wrong, pages)),
            (sorted_postings, (tokens, pages, wrong)),
            (merge_postings, (tokens, pages, tokens, wrong)),
            (drop_pages, (tokens, pages, wrong)),
            (document_frequency_histogram, (wrong,)),
        ):
            refused(TypeError, "expects an array of", call, *arguments)
    for counts, numbers in ((one, one), (array("I", [2]), pages)):
        refused(ValueError, "a page for each count", sorted_postings, tokens, counts, numbers)
    refused(ValueError, "a page for each token: 1 for 2", merge_postings, tokens, pages, tokens, one)
