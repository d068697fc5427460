"""The tables of a store in one SQLite file, and the migrations from each format to the next."""

from __future__ import annotations

import re

APPLICATION_ID = 0x77696E6E  # "winn", at byte 68 of the file, where file(1) looks
PAGE_SIZE = 8_192  # bytes: looking up overlaps reads half as many pages as with the usual 4,096

DIGITS = re.compile(r"(?:[0-9a-f]{2})*")

FIRST_FORMAT = """
CREATE TABLE scheme (id TEXT NOT NULL, choices TEXT NOT NULL, keyed INTEGER NOT NULL);

CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A page that is replaced gets a new number, under which its new tokens are found, and keeps its place.
CREATE TABLE page (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL,
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    crawl TEXT NOT NULL,
    title TEXT,
    fetched_at INTEGER, -- microseconds since 1970, UTC
    latest INTEGER NOT NULL,
    payload_digest TEXT,
    content_digest BLOB NOT NULL,
    text_digest BLOB NOT NULL,
    shingle_digest BLOB NOT NULL,
    fingerprint_count INTEGER NOT NULL,
    shingle_count INTEGER NOT NULL,
    sketch_count INTEGER NOT NULL,
    duplicate TEXT,
    duplicate_of TEXT,
    cluster BLOB -- NULL for its own id
);
CREATE UNIQUE INDEX page_place ON page (place);
CREATE UNIQUE INDEX page_id ON page (id);
CREATE INDEX page_url ON page (url, fetched_at);
CREATE INDEX page_content_digest ON page (content_digest);
CREATE INDEX page_text_digest ON page (text_digest);
CREATE INDEX page_shingle_digest ON page (shingle_digest);
CREATE INDEX page_payload_digest ON page (payload_digest) WHERE payload_digest IS NOT NULL;
CREATE INDEX page_cluster ON page (cluster) WHERE cluster IS NOT NULL;

-- Numbers are packed, lowest byte first.
CREATE TABLE page_hashes (
    number INTEGER PRIMARY KEY,
    fingerprints BLOB NOT NULL,
    positions BLOB NOT NULL,
    sketch BLOB NOT NULL,
    minhash BLOB NOT NULL,
    bands BLOB NOT NULL
);

CREATE TABLE page_text (number INTEGER PRIMARY KEY, text NOT NULL); -- a BLOB is a text packed with zstd

-- Postings, a table for each field: see stores/embedded/postings.py.
CREATE TABLE fingerprints (place INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE sketch (place INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE bands (place INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE run (field TEXT, run INTEGER, postings INTEGER NOT NULL, PRIMARY KEY (field, run)) WITHOUT ROWID;
-- The numbers of pages that are gone, and whose postings are still there.
CREATE TABLE gone (number INTEGER PRIMARY KEY);
"""

SECOND_FORMAT = """
DROP TABLE IF EXISTS words; -- of FTS5, with which words were looked up before

-- Words: see stores/embedded/text_index.py. A run has the pages from the first to the last.
CREATE TABLE word_run (
    run INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    words INTEGER NOT NULL,
    titles BLOB NOT NULL, -- how many words each has: a byte a page
    texts BLOB NOT NULL
);
CREATE TABLE word_block (
    place INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    first TEXT NOT NULL, -- of its words, which are in order
    words BLOB NOT NULL, -- with their pages
    places BLOB NOT NULL -- behind them: only phrases read these
);
CREATE UNIQUE INDEX word_block_first ON word_block (run, first);
CREATE TABLE word_lengths (number INTEGER PRIMARY KEY, title INTEGER NOT NULL, text INTEGER NOT NULL);
CREATE TABLE word_total (field TEXT PRIMARY KEY, pages INTEGER NOT NULL, words INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO word_total VALUES ('title', 0, 0), ('text', 0, 0);

CREATE INDEX page_not_latest ON page (number) WHERE NOT latest;
"""

# Every BLOB gets a checksum behind it: see stores/embedded/seals.py. A text is a BLOB even if it is not packed.
THIRD_FORMAT = """
ALTER TABLE page ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0; -- see FOURTH_FORMAT
UPDATE page_text SET text = sealed(text, number);
UPDATE page_hashes SET
    fingerprints = sealed(fingerprints, number),
    positions = sealed(positions, number),
    sketch = sealed(sketch, number),
    minhash = sealed(minhash, number),
    bands = sealed(bands, number);
UPDATE fingerprints SET block = sealed(block, place);
UPDATE sketch SET block = sealed(block, place);
UPDATE bands SET block = sealed(block, place);
UPDATE word_run SET titles = sealed(titles, run), texts = sealed(texts, run);
UPDATE word_block SET words = sealed(words, place), places = sealed(places, place);
"""

# A checksum covers all columns of a page that never change, each setting, and the scheme. In format 3 it covered fewer.
FOURTH_FORMAT = """
UPDATE page SET checksum = facts_checksum(
    id, url, site, crawl, title, fetched_at, payload_digest, content_digest, text_digest, shingle_digest,
    fingerprint_count, shingle_count, sketch_count, duplicate, duplicate_of
);
ALTER TABLE setting ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE setting SET checksum = row_checksum(name, value);
ALTER TABLE scheme ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE scheme SET checksum = row_checksum(id, choices, keyed);
"""

# Postings and positions are packed: see cython_core/packed_postings.pyx and packed_positions.pyx. Hashes are in two
# tables, because smaller rows leave fewer bytes of the file empty, and sketches are often read alone.
FIFTH_FORMAT = """
CREATE TABLE page_fingerprints (
    number INTEGER PRIMARY KEY,
    fingerprints BLOB NOT NULL,
    positions BLOB NOT NULL,
    bands BLOB NOT NULL
);
CREATE TABLE page_sketches (number INTEGER PRIMARY KEY, sketch BLOB NOT NULL, minhash BLOB NOT NULL);
INSERT INTO page_fingerprints SELECT number, fingerprints, repacked_positions(positions, number), bands
    FROM page_hashes ORDER BY number;
INSERT INTO page_sketches SELECT number, sketch, minhash FROM page_hashes ORDER BY number;
DROP TABLE page_hashes;
UPDATE fingerprints SET block = repacked_postings(block, place);
UPDATE sketch SET block = repacked_postings(block, place);
UPDATE bands SET block = repacked_postings(block, place);
"""

# A capture knows the record of a web archive that it was read from. Few archives and types have many captures. And it
# knows its canonical URL: mostly its own, for which an empty text takes no byte but that of its type.
SIXTH_FORMAT = """
ALTER TABLE page ADD COLUMN canonical TEXT; -- empty for its own URL, NULL for none
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
"""

# When a page arrives, the revisits that repeat it are looked up.
SEVENTH_FORMAT = """
CREATE INDEX page_revisit_payload ON page (payload_digest) WHERE duplicate = 'revisit';
CREATE INDEX page_revisit_url ON page (duplicate_of) WHERE duplicate = 'revisit';
"""

# Format 0 is an empty file with our application id. Script n takes a store from format n to n + 1. If it was below 2,
# the words of all pages are indexed again at the end.
MIGRATIONS: tuple[str, ...] = (
    *(FIRST_FORMAT, SECOND_FORMAT, THIRD_FORMAT, FOURTH_FORMAT, FIFTH_FORMAT, SIXTH_FORMAT, SEVENTH_FORMAT),
)


def packed(digest: str) -> bytes | str:
    """Return a digest as it is stored: the bytes of its hexadecimal digits, or the text if it has other characters."""
    return bytes.fromhex(digest) if DIGITS.fullmatch(digest) else digest


def unpacked(digest: bytes | str) -> str:
    return digest if isinstance(digest, str) else digest.hex()
