"""What packed_positions.pyx and packed_postings.pyx compute, in plain Python: short, slow, and readable."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Posting = tuple[int, int]  # token and page


def varint(number: int) -> bytes:
    """Return seven bits per byte, lowest first; all bytes but the last have the top bit."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def pack_positions(positions: Sequence[int]) -> bytes:
    return b"".join(varint((after - before) % 2**32) for before, after in pairwise((0, *positions)))


def pack_postings(postings: Sequence[Posting], block_bytes: int, slot_bits: int) -> list[tuple[int, bytes]]:
    """Return the blocks of postings, each as its first token and its bytes."""
    blocks: list[list[Posting]] = []
    for _, group in groupby(postings, lambda posting: posting[0] >> slot_bits):
        slot = list(group)
        if blocks and len(packed_block([*blocks[-1], *slot], slot_bits)) <= block_bytes:
            blocks[-1] += slot
        else:
            blocks.append(slot)
    return [(block[0][0], packed_block(block, slot_bits)) for block in blocks]


def packed_block(postings: Sequence[Posting], slot_bits: int) -> bytes:
    packed = b""
    before = postings[0][0] >> slot_bits << slot_bits
    for token, group in groupby(postings, lambda posting: posting[0]):
        first, *others = pages = [page for _, page in group]
        distance = number_bytes(token - before)
        control = len(distance) - 1 | len(number_bytes(first)) - 1 << 3 | min(len(others), 7) << 5
        count = varint(len(others)) if len(others) >= 7 else b""
        steps = b"".join(varint(after - page) for page, after in pairwise(pages))
        packed += bytes([control]) + distance + number_bytes(first) + count + steps
        before = token
    return packed


def number_bytes(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "little")
