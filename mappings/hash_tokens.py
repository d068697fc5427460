"""Converts hashes to tokens, and numbers to bytes.

A token of OpenSearch is a hash as 8 bytes, highest first, in base64url without padding: 11 characters. A field of a
document has all its tokens in one string, with spaces between them. A token in JSON lines is 16 hexadecimal digits, as
`winnow fingerprint` prints it; sorting these as text sorts them as numbers.
"""

from __future__ import annotations

import re
import sys
from array import array
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from typing import Literal

from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions

TOKEN_CHARS = 11
BASE64 = re.compile(rb"[A-Za-z0-9_-]*")
INVALID_TOKENS = f"tokens are {TOKEN_CHARS} characters of base64url each, with a space between them"


def tokens_of(hashes: array[int]) -> list[str]:
    return packed_tokens(hashes).split()


def packed_tokens(hashes: array[int]) -> str:
    """Return the tokens of `hashes` as one string, as a document has them."""
    # With a zero byte behind each hash, 9 bytes become 12 characters, and the last of these is always the same.
    raw, padded = ordered_bytes(hashes, "big"), bytearray(9 * len(hashes))
    for byte in range(8):
        padded[byte::9] = raw[byte::8]
    letters = bytearray(urlsafe_b64encode(padded))
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b" " * len(hashes)
    return letters[:-1].decode()


def unpacked_tokens(packed: str) -> array[int]:
    """Return the hashes of `packed` tokens. Raises ValueError if they are invalid."""
    letters = bytearray(f"{packed} ".encode() if packed else b"")
    count, rest = divmod(len(letters), TOKEN_CHARS + 1)
    spaces = letters[TOKEN_CHARS :: TOKEN_CHARS + 1]
    letters[TOKEN_CHARS :: TOKEN_CHARS + 1] = b"A" * len(spaces)
    if rest or spaces != b" " * count or not BASE64.fullmatch(letters):
        raise ValueError(INVALID_TOKENS)
    padded = urlsafe_b64decode(letters)
    if any(padded[8::9]):  # bits that are not part of a hash
        raise ValueError(INVALID_TOKENS)
    raw = bytearray(8 * count)
    for byte in range(8):
        raw[byte::8] = padded[byte::9]
    return numbers_from(bytes(raw), "Q", "big")


def hex_tokens(hashes: array[int]) -> list[str]:
    """Return the tokens of `hashes` as JSON lines have them."""
    return ordered_bytes(hashes, "big").hex(" ", 8).split()


def unpacked_hex_tokens(tokens: list[str]) -> array[int]:
    """Return the hashes of hexadecimal `tokens`. Raises ValueError if one is invalid."""
    joined = bytes.fromhex("".join(tokens))
    if len(joined) != 8 * len(tokens) or any(len(token) != 16 for token in tokens):
        raise ValueError("a hash is 16 hexadecimal digits")
    return numbers_from(joined, "Q", "big")


def ordered_bytes(numbers: array[int], order: Literal["little", "big"]) -> bytes:
    """Return the bytes of `numbers`, lowest or highest byte first, on any machine."""
    if sys.byteorder != order:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def numbers_from(raw: bytes, typecode: Literal["I", "Q"], order: Literal["little", "big"]) -> array[int]:
    """Return the numbers that `raw` has in this byte `order`."""
    numbers = array(typecode, raw)
    if sys.byteorder != order:
        numbers.byteswap()
    return numbers


def packed_positions(positions: array[int]) -> str:
    """Return positions packed and in base64, as a document has them."""
    return b64encode(pack_positions(positions)).decode()


def unpacked_positions(packed: str) -> array[int]:
    return unpack_positions(b64decode(packed, validate=True))
