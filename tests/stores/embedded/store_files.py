"""Store files for tests, access to their tables, and processes that use them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from opensearch_winnow.cython_core.packed_positions import unpack_positions
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.embedded.postings import unpacked
from opensearch_winnow.stores.embedded.seals import sealed, unsealed
from tests.stores.conftest import numbered

START = """
import os, resource, sys
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
"""

# Turns a store into one of the fourth format, whose postings and positions were not packed; it knew no sources
# and no canonical URLs, and did not look up revisits.
FOURTH_FORMAT = """
DROP INDEX page_revisit_payload;
DROP INDEX page_revisit_url;
ALTER TABLE page DROP COLUMN canonical;
CREATE TABLE page_hashes (number INTEGER PRIMARY KEY, fingerprints, positions, sketch, minhash, bands);
INSERT INTO page_hashes SELECT number, fingerprints, old_positions(positions, number), sketch, minhash, bands
    FROM page_fingerprints JOIN page_sketches USING (number);
DROP TABLE page_fingerprints;
DROP TABLE page_sketches;
UPDATE fingerprints SET block = old_postings(block, place);
UPDATE sketch SET block = old_postings(block, place);
UPDATE bands SET block = old_postings(block, place);
DROP TABLE page_source;
DROP TABLE source;
PRAGMA user_version = 4;
"""
SEALED_COLUMNS = {
    "page_text": ("text",),
    "page_hashes": ("fingerprints", "positions", "sketch", "minhash", "bands"),
    "fingerprints": ("block",),
    "sketch": ("block",),
    "bands": ("block",),
    "word_run": ("titles", "texts"),
    "word_block": ("words", "places"),
}
# Turns a store into one of the second format, which had no checksums.
SECOND_FORMAT = (
    FOURTH_FORMAT
    + "".join(f"ALTER TABLE {table} DROP COLUMN checksum;" for table in ("page", "setting", "scheme"))
    + "".join(
        f"UPDATE {table} SET {column} = substr({column}, 1, length({column}) - 4);"
        for table, columns in SEALED_COLUMNS.items()
        for column in columns
    )
    + "PRAGMA user_version = 2;"
)
# Turns a store into one of the first format, which had an FTS5 table instead of the tables of words.
FIRST_FORMAT = f"""
{SECOND_FORMAT}
DROP INDEX page_not_latest;
DROP TABLE word_block;
DROP TABLE word_run;
DROP TABLE word_lengths;
DROP TABLE word_total;
CREATE VIRTUAL TABLE words USING fts5 (title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');
PRAGMA user_version = 1;
"""


def rows(path: Path) -> closing[sqlite3.Connection]:
    db = sqlite3.connect(path, isolation_level=None)
    db.create_function("old_positions", 2, old_positions)
    db.create_function("old_postings", 2, old_postings)
    return closing(db)


def old_positions(stored: bytes, number: int) -> bytes:
    return sealed(unpack_positions(unsealed(stored, number)).tobytes(), number)


def old_postings(stored: bytes, place: int) -> bytes:
    tokens, pages = unpacked(place, stored)
    return sealed(tokens.tobytes() + pages.tobytes(), place)


def filled(path: Path, *numbers: int) -> Path:
    """Create a store with the records of these numbers, and return its path."""
    with EmbeddedStore.open(path, create=True) as store:
        store.write([numbered(number) for number in numbers])
    return path


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run code in another process, after imports for stores and records."""
    command = [sys.executable, "-c", START + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
