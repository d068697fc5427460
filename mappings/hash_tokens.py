"""Converts hashes to the tokens that OpenSearch indexes, and packs positions.

A token is a hash as 8 bytes, highest first, in base64url without padding: 11 characters. A field of a document has its
tokens in one text, with spaces between them.
"""

from __future__ import annotations

import re
import sys
from array import array
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode

from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from opensearch_winnow.mappings.record import in_order

TOKEN_CHARS = 11
BASE64 = re.compile(rb"[A-Za-z0-9_-]*")
NO_TOKENS = f"tokens are {TOKEN_CHARS} characters of base64url each, with a space between them"


def tokens_of(hashes: array[int]) -> list[str]:
    return packed_tokens(hashes).split()


def packed_tokens(hashes: array[int]) -> str:
    """Return the tokens of `hashes` in one text, as a document has them."""
    # With a zero byte behind each hash, 9 bytes become 12 characters, and the last of these is always the same.
    raw, padded = in_order(hashes, "big"), bytearray(9 * len(hashes))
    for byte in range(8):
        padded[byte::9] = raw[byte::8]
    letters = bytearray(urlsafe_b64encode(padded))
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b" " * len(hashes)
    return letters[:-1].decode()


def unpacked_tokens(packed: str) -> array[int]:
    """Return the hashes of a text of tokens. Raises ValueError if it is none."""
    letters = bytearray(f"{packed} ".encode() if packed else b"")
    count, rest = divmod(len(letters), TOKEN_CHARS + 1)
    spaces = letters[TOKEN_CHARS :: TOKEN_CHARS + 1]
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b"A" * len(spaces)
    if rest or spaces != b" " * count or not BASE64.fullmatch(letters):
        raise ValueError(NO_TOKENS)
    padded = urlsafe_b64decode(letters)
    if any(padded[8::9]):  # bits that are not part of a hash
        raise ValueError(NO_TOKENS)
    raw = bytearray(8 * count)
    for byte in range(8):
        raw[byte::8] = padded[byte::9]
    hashes = array("Q", bytes(raw))
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes


def packed_positions(positions: array[int]) -> str:
    """Return positions packed and in base64, as a document has them."""
    return b64encode(pack_positions(positions)).decode()


def unpacked_positions(packed: str) -> array[int]:
    return unpack_positions(b64decode(packed, validate=True))
