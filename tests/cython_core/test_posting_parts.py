"""Postings in parts, compared with sorted pairs, and rows put in their places."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.posting_parts import bundle_postings, put_rows, sort_postings, split_postings
from opensearch_winnow.cython_core.sorted_postings import sorted_postings
from tests.refused import refused

TOKEN = st.integers(0, 3) | st.integers(0, 2**64 - 1)
PAGE = st.integers(0, 5) | st.integers(0, 2**32 - 1)
POSTINGS = st.lists(st.tuples(TOKEN, PAGE), max_size=60)
Posting = tuple[int, int]


def columns(postings: list[Posting]) -> tuple[array[int], array[int]]:
    return array("Q", [token for token, _ in postings]), array("I", [page for _, page in postings])


def parts_of(postings: list[Posting], parts: int) -> list[list[Posting]]:
    """Return the postings of each part, sorted."""
    numbers, counts = split_postings(*columns(postings), parts)
    bounds = pairwise(accumulate(counts, initial=0))
    return [list(zip(*sort_postings(numbers[3 * start : 3 * end]), strict=True)) for start, end in bounds]


@given(POSTINGS, st.sampled_from([1, 2, 7, 256]))
def test_parts_are_ranges_of_tokens(postings: list[Posting], parts: int) -> None:
    divided = parts_of(postings, parts)
    assert len(divided) == parts
    assert [posting for part in divided for posting in part] == sorted(postings)


# Of each kind there are more than insertion sort takes: uniform hashes; few tokens on many pages; tokens that differ in
# a few low bits; tokens that share their top bits, as those of a part do; and hashes among many equal ones.
KINDS = {
    "uniform": lambda random: random.getrandbits(64),
    "few": lambda random: random.choice([1, 2**63, 2**64 - 1]),
    "low bits": lambda random: random.getrandbits(14),
    "one part": lambda random: 77 << 56 | random.getrandbits(56),
    "mixed": lambda random: random.choice([5 << 40, random.getrandbits(64)]),
}


@pytest.mark.check
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [33, 1_000, 70_000])
def test_many_postings_are_sorted(kind: str, count: int) -> None:
    random = Random(count)
    postings = [(KINDS[kind](random), random.getrandbits(32)) for _ in range(count)]
    assert parts_of(postings, 1) == [sorted(postings)]
    by_page = sorted_postings(columns(postings)[0], array("I", [1]) * count, columns(postings)[1])
    assert list(zip(*by_page, strict=True)) == sorted(set(postings))


@given(st.sets(st.tuples(st.integers(0, 9) | TOKEN, st.integers(0, 3)), max_size=60))
def test_tokens_on_the_same_pages_are_a_bundle(postings: set[Posting]) -> None:
    on: dict[int, list[int]] = {}
    for token, page in sorted(postings):
        on.setdefault(token, []).append(page)
    bundles, pages = bundle_postings(*columns(sorted(postings)))
    shared = [(tuple(on[token]), page) for token, page in sorted(postings) if len(on[token]) > 1]
    assert list(pages) == [page for _, page in shared]
    names = {(bundle, pages_of) for bundle, (pages_of, _) in zip(bundles, shared, strict=True)}
    assert len(names) == len(set(bundles)) == len({pages_of for pages_of, _ in shared})


@given(st.lists(st.tuples(st.integers(0, 9), st.binary(min_size=3, max_size=3)), max_size=20))
def test_rows_are_put_in_their_places(rows: list[tuple[int, bytes]]) -> None:
    target = bytearray(30)
    put_rows(target, array("I", [number for number, _ in rows]), b"".join(row for _, row in rows), 3)
    assert target == b"".join(dict(rows).get(at, bytes(3)) for at in range(10))


def test_bad_arguments_are_refused() -> None:
    tokens, pages, row = array("Q", [1, 2]), array("I", [0, 1]), bytes(3)
    refused(ValueError, "a page for each token: 1 for 2", split_postings, tokens, pages[:1], 4)
    refused(ValueError, "a page for each token: 1 for 2", bundle_postings, tokens, pages[:1])
    for parts in (0, -1, 65_537):
        refused(ValueError, f"1 to 65,536 parts, got {parts}", split_postings, array("Q"), array("I"), parts)
    refused(ValueError, "3 numbers for each posting, got 4 numbers", sort_postings, array("I", [1, 2, 3, 4]))
    refused(TypeError, r"sort_postings\(\) expects an array of 32-bit", sort_postings, None)
    refused(ValueError, "2 rows of 3 bytes, got 5 bytes", put_rows, bytearray(9), pages, bytes(5), 3)
    refused(ValueError, "no place for row 3", put_rows, bytearray(11), array("I", [3]), row, 3)
    for target, rows in ((bytes(9), row), (None, row), (bytearray(9), None), (bytearray(9), array("Q"))):
        refused(TypeError, "bytes", put_rows, target, pages[:1], rows, 3)
