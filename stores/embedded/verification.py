"""Reads all of a store file, to find damage that no question has met yet."""

from __future__ import annotations

import sqlite3

from opensearch_winnow.mappings.sqlite_schema import FIELDS_OF
from opensearch_winnow.stores.embedded.rows import CAPTURE_ENTRY, PAGE_AND_SOURCE, SEALED_TABLES, entry_of, setting_of
from opensearch_winnow.stores.embedded.seals import unsealed

# The sealed columns of each table, after the key that they are sealed with.
SEALED = {
    **{table: ("number", *(each.name for each in FIELDS_OF[table])) for table in SEALED_TABLES},
    "fingerprints": ("block_id", "block"),
    "sketch": ("block_id", "block"),
    "bands": ("block_id", "block"),
    "word_run": ("run", "titles", "texts"),
    "word_block": ("block_id", "words", "positions"),
}


def verify(db: sqlite3.Connection) -> None:
    """Check the structure of the file and all checksums, in a transaction of the caller; raise a DatabaseError."""
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)
    for row in db.execute(f"SELECT {CAPTURE_ENTRY} FROM {PAGE_AND_SOURCE}"):
        entry_of(row)
    for setting in db.execute("SELECT name, value, checksum FROM setting"):
        setting_of(*setting)
    for table, columns in SEALED.items():
        for key, *stored in db.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            for each in stored:
                if each is not None:
                    unsealed(each, key)
