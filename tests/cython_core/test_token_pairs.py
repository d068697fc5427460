"""Pairs of pages that share a token, compared with their definition."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import combinations, pairwise
from operator import attrgetter

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.token_pairs import TokenPairs, split_pairs
from tests.cython_core.reference import Pair, skipped_pairs, token_pairs
from tests.refused import refused

Postings = list[tuple[int, int]]  # a token, and a page that has it

PAGES = 30
MAX_PARTNERS = st.sampled_from([2, 3, 4, 5, 8, 100])
POSTINGS = st.lists(
    st.tuples(st.integers(0, 3) | st.integers(2**64 - 3, 2**64 - 1), st.integers(0, PAGES - 1)), max_size=150
).map(sorted)


def columns(postings: Postings) -> tuple[array[int], array[int]]:
    return array("Q", [token for token, _ in postings]), array("I", [page for _, page in postings])


def unpacked(pairs: array[int]) -> list[Pair]:
    return [(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs]


def pairs_of(postings: Postings, max_partners: int) -> list[Pair]:
    return unpacked(TokenPairs(max_partners).add(*columns(postings)))


def by_token(postings: Postings) -> dict[int, list[int]]:
    pages: dict[int, list[int]] = defaultdict(list)
    for token, page in sorted(set(postings)):
        pages[token].append(page)
    return pages


@given(POSTINGS, MAX_PARTNERS)
def test_compiled_is_reference(postings: Postings, max_partners: int) -> None:
    """A token may occur twice on a page."""
    pages, pairs = by_token(postings).values(), TokenPairs(max_partners)
    expected = sorted(pair for each in pages for pair in token_pairs(each, max_partners))
    assert sorted(unpacked(pairs.add(*columns(postings)))) == expected
    assert pairs.max_partners == max_partners
    assert pairs.longest_list == max(map(len, pages), default=0)
    assert pairs.common_tokens == sum(len(each) > max_partners + 1 for each in pages)
    assert pairs.skipped_pairs == sum(skipped_pairs(len(each), max_partners) for each in pages)


@given(POSTINGS, MAX_PARTNERS)
def test_every_pair_is_made_or_counted_as_skipped(postings: Postings, max_partners: int) -> None:
    every = [pair for pages in by_token(postings).values() for pair in combinations(pages, 2)]
    pairs = TokenPairs(max_partners)
    assert len(pairs.add(*columns(postings))) + pairs.skipped_pairs == len(every)


@given(POSTINGS, MAX_PARTNERS, st.lists(st.integers(0, 150), max_size=9))
def test_postings_may_come_in_parts(postings: Postings, max_partners: int, cuts: list[int]) -> None:
    some, whole = TokenPairs(max_partners), TokenPairs(max_partners)
    parts = [postings[start:end] for start, end in pairwise(sorted([0, *cuts, len(postings)]))]
    together = [pair for part in parts for pair in unpacked(some.add(*columns(part)))]
    assert together == unpacked(whole.add(*columns(postings)))
    counts = attrgetter("common_tokens", "longest_list", "skipped_pairs")
    assert counts(some) == counts(whole)


@given(POSTINGS, MAX_PARTNERS, st.integers(0, PAGES))
def test_later_pages_change_no_earlier_pair(postings: Postings, max_partners: int, first: int) -> None:
    """When a crawl grows, the pairs of its earlier pages stay the same."""
    before = [(token, page) for token, page in postings if page < first]
    assert pairs_of(before, max_partners) == [pair for pair in pairs_of(postings, max_partners) if pair[1] < first]


@given(POSTINGS, MAX_PARTNERS, st.lists(st.integers(0, 1), min_size=PAGES, max_size=PAGES).map(bytes))
def test_pairs_of_unchanged_pages_are_left_out(postings: Postings, max_partners: int, changed: bytes) -> None:
    expected = [pair for pair in pairs_of(postings, max_partners) if changed[pair[0]] or changed[pair[1]]]
    skipped = sum(skipped_pairs(len(pages), max_partners) for pages in by_token(postings).values())
    for flags in (changed, bytearray(changed), memoryview(changed), array("B", changed)):
        pairs = TokenPairs(max_partners)
        assert unpacked(pairs.add(*columns(postings), flags)) == expected
        assert pairs.skipped_pairs == skipped


def test_the_number_of_pairs_is_linear_in_the_pages() -> None:
    pairs = TokenPairs(100)
    assert len(pairs.add(array("Q", [7]) * 100_000, array("I", range(100_000)))) < 100 * 100_000
    assert (pairs.common_tokens, pairs.longest_list) == (1, 100_000)
    assert pairs.skipped_pairs == skipped_pairs(100_000, 100)


@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, PAGES - 1)), max_size=50),
    st.sampled_from([1, 2, 7, 30, 256]),
)
def test_split_by_the_later_page(pairs: list[Pair], parts: int) -> None:
    """Every pair is in its part, and a part keeps the order of its pairs."""
    split, counts = split_pairs(array("Q", [a << 32 | b for a, b in pairs]), parts, PAGES)
    by_part = [[pair for pair in pairs if pair[1] * parts // PAGES == part] for part in range(parts)]
    assert counts.tolist() == [len(each) for each in by_part]
    assert unpacked(split) == [pair for each in by_part for pair in each]


def test_split_pairs_rejects_bad_arguments() -> None:
    for parts, pages in ((0, 5), (65_537, 5), (4, 0), (4, -1), (4, 2**32)):
        refused(ValueError, f"65,536 parts .*, got {parts} and {pages}", split_pairs, array("Q"), parts, pages)
    assert split_pairs(array("Q"), 3, 2**32 - 1) == (array("Q"), array("I", [0, 0, 0]))
    for page in (5, 2**32 - 1):
        refused(ValueError, f"pages below 5, got {page}", split_pairs, array("Q", [page]), 4, 5)
    refused(TypeError, r"split_pairs\(\) expects an array of 64-bit", split_pairs, [1], 4, 5)


def test_the_largest_numbers_and_none() -> None:
    last = 2**32 - 1
    assert pairs_of([(2**64 - 1, last - 1), (2**64 - 1, last)], 2) == [(last - 1, last)]
    assert TokenPairs(2).add(array("Q"), array("I"), b"") == array("Q")


def test_errors_name_what_was_expected() -> None:
    for most in (-1, 1, 1_000_001):
        refused(ValueError, f"2 to 1,000,000 partners per page, not {most}", TokenPairs, most)
    add, tokens, pages = TokenPairs(2).add, array("Q", [1, 1]), array("I", [1, 2])
    for wrong in (None, [1], array("q", [1]), "Q"):
        refused(TypeError, "64-bit unsigned integers", add, wrong, pages)
        refused(TypeError, "32-bit unsigned integers", add, tokens, wrong)
    for flags in ("1", [1, 1, 1], array("I", [1, 1, 1]), memoryview(bytes(6))[::2]):
        refused(TypeError, "a byte for each page in `changed`, got", add, tokens, pages, flags)
    refused(ValueError, "a page for each token: 1 for 2", add, tokens, pages[:1])
    refused(ValueError, "2 flags for changed pages, and none for page 2", add, tokens, pages, b"\1\1")
    add(tokens, pages)
    refused(ValueError, "in ascending order, got 1 after 2", add, tokens, pages)
