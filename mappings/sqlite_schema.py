"""The tables of a store in one SQLite file, and the migrations from each format to the next."""

from __future__ import annotations

from opensearch_winnow.mappings.record import RECORD_FIELDS
from opensearch_winnow.mappings.stored_fields import FACTS, FINGERPRINTS, SKETCHES, TEXTS, StoredField

APPLICATION_ID = 0x77696E6E  # "winn", at byte 68 of the file, where file(1) looks
PAGE_SIZE = 8_192  # bytes: looking up overlaps reads half as many pages as with the usual 4,096

# The fields of a record by the table that has their columns. Hashes are in two tables, because smaller rows leave fewer
# bytes of the file empty, and sketches are often read alone.
FIELDS_OF = {
    table: tuple(each for each in RECORD_FIELDS if each.table == table)
    for table in (FACTS, TEXTS, FINGERPRINTS, SKETCHES)
}


# Every BLOB of bytes has a checksum behind it: see stores/embedded/seals.py. The checksum of a page, of a setting or of
# the scheme is a column: see stores/embedded/rows.py.
PAGE_TABLES = """
CREATE TABLE scheme (id TEXT NOT NULL, choices TEXT NOT NULL, keyed INTEGER NOT NULL, checksum INTEGER NOT NULL);

CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;

-- A page that is replaced gets a new number, under which its new tokens are found, and keeps its arrival.
CREATE TABLE page (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    arrival INTEGER NOT NULL, -- rises from first write to first write
    latest INTEGER NOT NULL,
    cluster BLOB, -- NULL for its own id
    checksum INTEGER NOT NULL, -- of the columns that follow, which never change
    {page}
);
CREATE UNIQUE INDEX page_arrival ON page (arrival);
CREATE UNIQUE INDEX page_id ON page (id);
CREATE INDEX page_url ON page (url, fetched_at);
CREATE INDEX page_content_digest ON page (content_digest);
CREATE INDEX page_text_digest ON page (text_digest);
CREATE INDEX page_shingle_digest ON page (shingle_digest);
CREATE INDEX page_payload_digest ON page (payload_digest) WHERE payload_digest IS NOT NULL;
CREATE INDEX page_cluster ON page (cluster) WHERE cluster IS NOT NULL;
CREATE INDEX page_not_latest ON page (number) WHERE NOT latest;
-- When a page arrives, the revisits that repeat it are looked up.
CREATE INDEX page_revisit_payload ON page (payload_digest) WHERE duplicate = 'revisit';
CREATE INDEX page_revisit_url ON page (duplicate_of) WHERE duplicate = 'revisit';

CREATE TABLE page_text (number INTEGER PRIMARY KEY, {page_text}); -- packed with zstd if that is shorter
CREATE TABLE page_fingerprints (number INTEGER PRIMARY KEY, {page_fingerprints});
CREATE TABLE page_sketches (number INTEGER PRIMARY KEY, {page_sketches});

-- The records of web archives that captures were read from. Few archives and types have many captures.
CREATE TABLE source (
    source INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    record_type TEXT NOT NULL,
    status INTEGER NOT NULL, -- 0: unknown
    mime TEXT NOT NULL -- empty: unknown
);
CREATE UNIQUE INDEX source_values ON source (file, record_type, status, mime);
CREATE TABLE page_source (
    number INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    "length" INTEGER NOT NULL,
    seal INTEGER NOT NULL -- a checksum of all these values
);

-- Postings, a table for each field: see stores/embedded/postings.py.
CREATE TABLE fingerprints (block_id INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE sketch (block_id INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE bands (block_id INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE run (field TEXT, run INTEGER, postings INTEGER NOT NULL, PRIMARY KEY (field, run)) WITHOUT ROWID;
-- The numbers of pages that are gone, and whose postings are still there.
CREATE TABLE gone (number INTEGER PRIMARY KEY);
"""
# See stores/embedded/text_index.py. A run has the pages from the first to the last.
WORD_TABLES = """
CREATE TABLE word_run (
    run INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    words INTEGER NOT NULL,
    titles BLOB NOT NULL, -- how many words each has: a byte a page
    texts BLOB NOT NULL
);
CREATE TABLE word_block (
    block_id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    first TEXT NOT NULL, -- of its words, which are in order
    words BLOB NOT NULL, -- with their pages
    positions BLOB NOT NULL -- behind them: only phrases read these
);
CREATE UNIQUE INDEX word_block_first ON word_block (run, first);
CREATE TABLE word_lengths (number INTEGER PRIMARY KEY, title INTEGER NOT NULL, text INTEGER NOT NULL);
CREATE TABLE word_total (field TEXT PRIMARY KEY, pages INTEGER NOT NULL, words INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO word_total VALUES ('title', 0, 0), ('text', 0, 0);
"""

# The scripts that take a store from format 1 to 2, from 2 to 3, and so on. After them, optional columns that the store
# lacks are added: a format that only adds some needs an empty script.
MIGRATIONS: tuple[str, ...] = ()


def current_format() -> int:
    """Return the number of the format that new stores have."""
    return 1 + len(MIGRATIONS)


def tables() -> str:
    """Return the script that makes the tables of a new store."""
    columns = {table: ", ".join(map(column, fields)) for table, fields in FIELDS_OF.items()}
    return PAGE_TABLES.format(**columns) + WORD_TABLES


def column(field: StoredField) -> str:
    """Return the definition of a column."""
    return f"{field.name} {field.kind.column}{'' if field.optional else ' NOT NULL'}"
