"""Packed postings, compared with the reference."""

from __future__ import annotations

from array import array
from contextlib import suppress

from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.packed_postings import pack_postings, unpack_postings
from tests.cython_core import reference
from tests.refused import refused

# Tokens of few slots, both ends of the range, and any others; some tokens are on many pages.
TOKEN = st.integers(0, 40) | st.integers(2**64 - 40, 2**64 - 1) | st.integers(0, 2**64 - 1)
NUMBER = st.integers(0, 300) | st.integers(0, 2**32 - 1)
PAIRS = st.sets(st.tuples(TOKEN, NUMBER), max_size=60)
ON_MANY_PAGES = {(5, page) for page in range(1, 1000, 3)} | {(2**64 - 1, 2**32 - 1)}


def packed(pairs: set[tuple[int, int]], block_bytes: int, slot_bits: int) -> list[tuple[int, bytes]]:
    tokens, pages = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return pack_postings(array("Q", tokens), array("I", pages), block_bytes, slot_bits)


@example(ON_MANY_PAGES, 50, 4)
@given(PAIRS, st.integers(0, 100), st.integers(0, 63))
def test_packed_and_unpacked_they_are_the_same(pairs: set[tuple[int, int]], block_bytes: int, slot_bits: int) -> None:
    blocks = packed(pairs, block_bytes, slot_bits)
    assert blocks == reference.pack_postings(sorted(pairs), block_bytes, slot_bits)
    unpacked = [unpack_postings(block, first >> slot_bits << slot_bits) for first, block in blocks]
    assert [pair for some in unpacked for pair in zip(*some, strict=True)] == sorted(pairs)
    assert [tokens[0] for tokens, _ in unpacked] == [first for first, _ in blocks]


@given(PAIRS.filter(bool), st.data())
def test_a_damaged_block_is_refused_or_in_order(pairs: set[tuple[int, int]], data: st.DataObject) -> None:
    ((first, block),) = packed(pairs, 10_000, 0)
    at = data.draw(st.integers(0, len(block) - 1))
    other = data.draw(st.binary(min_size=1, max_size=1))
    wrong = data.draw(st.sampled_from([block[:at], block[:at] + other + block[at + 1 :]]))
    with suppress(ValueError):
        unpacked = list(zip(*unpack_postings(wrong, first), strict=True))
        assert unpacked == sorted(set(unpacked))


@given(st.binary(max_size=60), st.integers(0, 2**64 - 1))
def test_any_bytes_are_postings_or_refused(block: bytes, lowest: int) -> None:
    with suppress(ValueError):
        tokens, pages = unpack_postings(block, lowest)
        assert len(tokens) == len(pages) <= len(block)
        assert tokens[0] >= lowest


def test_errors_name_what_was_expected() -> None:
    tokens, pages, ones = array("Q", [1, 2]), array("I", [1, 2]), array("I", [1, 1])
    for wrong in (None, [1], array("q", [1]), "Q"):
        refused(TypeError, "expects an array of", pack_postings, wrong, pages, 100, 4)
        refused(TypeError, "expects an array of", pack_postings, tokens, wrong, 100, 4)
        refused(TypeError, "", unpack_postings, wrong, 0)
    refused(ValueError, "a page for each token: 1 for 2", pack_postings, tokens, ones[:1], 100, 4)
    for slot_bits in (-1, 64):
        refused(ValueError, f"0 to 63 bits of a slot, got {slot_bits}", pack_postings, tokens, pages, 100, slot_bits)
    for unsorted in (array("Q", [2, 1]), array("Q", [2, 2])):
        refused(ValueError, "in order, without repeats", pack_postings, unsorted, ones, 100, 4)
    refused(ValueError, "is corrupt", unpack_postings, b"", 0)
    refused(OverflowError, "", unpack_postings, b"\0\0\0", 2**64)
