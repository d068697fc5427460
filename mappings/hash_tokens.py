"""Hashes as the tokens that OpenSearch indexes, and positions packed small.

A token is a hash as 8 bytes, highest first, in base64url without padding: 11 characters, which anybody can write. A
field of a document has them with a space between each two.
"""

from __future__ import annotations

import re
import sys
from array import array
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from itertools import accumulate, pairwise

from opensearch_winnow.mappings.record import in_order

TOKEN_CHARS = 11  # characters of a token
BASE64 = re.compile(rb"[A-Za-z0-9_-]*")
NO_TOKENS = f"tokens are {TOKEN_CHARS} characters of base64url each, with a space between them"


def tokens_of(hashes: array[int]) -> list[str]:
    return packed_tokens(hashes).split()


def packed_tokens(hashes: array[int]) -> str:
    """The tokens as a document has them."""
    # With a zero byte behind each hash, 9 bytes are 12 characters, of which the last one is always the same.
    raw, padded = in_order(hashes, "big"), bytearray(9 * len(hashes))
    for byte in range(8):
        padded[byte::9] = raw[byte::8]
    letters = bytearray(urlsafe_b64encode(padded))
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b" " * len(hashes)
    return letters[:-1].decode()


def unpacked_tokens(packed: str) -> array[int]:
    """The hashes. A ValueError if these are no tokens."""
    letters = bytearray(f"{packed} ".encode() if packed else b"")
    count, rest = divmod(len(letters), TOKEN_CHARS + 1)
    spaces = letters[TOKEN_CHARS :: TOKEN_CHARS + 1]
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b"A" * len(spaces)
    if rest or spaces != b" " * count or not BASE64.fullmatch(letters):
        raise ValueError(NO_TOKENS)
    padded = urlsafe_b64decode(letters)
    if any(padded[8::9]):  # bits that no hash has
        raise ValueError(NO_TOKENS)
    raw = bytearray(8 * count)
    for byte in range(8):
        raw[byte::8] = padded[byte::9]
    hashes = array("Q", bytes(raw))
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes


def packed_positions(positions: array[int]) -> str:
    """The differences of 32-bit positions, each in 7 bits a byte, lowest first, the last byte below 128; in base64."""
    steps = [(after - before) & 0xFFFFFFFF for before, after in pairwise((0, *positions))]
    if max(steps, default=0) < 128:  # as they are where picks are never so far apart
        return b64encode(bytes(steps)).decode()
    packed = bytearray()
    for step in steps:
        while step >= 128:
            packed.append(step & 127 | 128)
            step >>= 7
        packed.append(step)
    return b64encode(packed).decode()


def unpacked_positions(packed: str) -> array[int]:
    raw = b64decode(packed, validate=True)
    if raw.isascii():
        return array("I", accumulate(raw))
    positions = array("I")
    position = step = shift = 0
    for byte in raw:
        step |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            position = (position + step) & 0xFFFFFFFF
            positions.append(position)
            step = shift = 0
    if shift:
        raise ValueError("packed positions end in the middle of one")
    return positions
