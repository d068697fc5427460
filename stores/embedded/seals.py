"""Seals stored bytes with a checksum, and checks it as they are read.

SQLite's pages have no checksums, so a bit that a disk flips would become part of an answer. CRC-32 finds every run of
up to 32 wrong bits. The key of the row counts too, so that bytes of one row are not taken for those of another.
"""

from __future__ import annotations

import sqlite3
from zlib import crc32

SEAL_BYTES = 4


def sealed(data: bytes | str, key: int) -> bytes:
    """Return `data`, as UTF-8 if it is text, followed by a checksum of it and of the `key` of its row."""
    raw = data.encode() if isinstance(data, str) else data
    return raw + _checksum(raw, key)


def unsealed(stored: object, key: int) -> bytes:
    """Return the bytes without their checksum. Raises a DatabaseError if it is wrong."""
    if isinstance(stored, bytes):
        data = stored[:-SEAL_BYTES]
        if stored[len(data) :] == _checksum(data, key):
            return data
    raise sqlite3.DatabaseError("a checksum is wrong")


def _checksum(data: bytes, key: int) -> bytes:
    return crc32(data, (key ^ key >> 32) & 0xFFFFFFFF).to_bytes(SEAL_BYTES, "little")
