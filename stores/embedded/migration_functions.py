"""The functions that migrations call in SQL."""

from __future__ import annotations

import sqlite3
import sys
from array import array

from opensearch_winnow.cython_core.packed_positions import pack_positions
from opensearch_winnow.cython_core.packed_postings import pack_postings
from opensearch_winnow.stores.embedded.postings import SLOT_BITS
from opensearch_winnow.stores.embedded.rows import facts_checksum, row_checksum
from opensearch_winnow.stores.embedded.seals import sealed, unsealed

OLD_POSTING_BYTES = 12  # of a token, and of a page


def add_functions(db: sqlite3.Connection) -> None:
    """Make the functions known to SQLite."""
    db.create_function("sealed", 2, sealed)
    db.create_function("facts_checksum", 15, facts_checksum)
    db.create_function("row_checksum", -1, row_checksum)
    db.create_function("repacked_positions", 2, repacked_positions)
    db.create_function("repacked_postings", 2, repacked_postings)


def repacked_positions(stored: bytes, number: int) -> bytes:
    """Return positions of format 4 as later formats have them."""
    return sealed(pack_positions(_numbers("I", unsealed(stored, number))), number)


def repacked_postings(stored: bytes, block_id: int) -> bytes:
    """Return a block of postings of format 4, all tokens and then all pages, as later formats have it."""
    block = unsealed(stored, block_id)
    pages_start = len(block) // OLD_POSTING_BYTES * 8
    tokens, pages = _numbers("Q", block[:pages_start]), _numbers("I", block[pages_start:])
    ((_, packed),) = pack_postings(tokens, pages, sys.maxsize, SLOT_BITS)
    return sealed(packed, block_id)


def _numbers(typecode: str, raw: bytes) -> array[int]:
    numbers = array(typecode, raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
