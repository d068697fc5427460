"""Writes and deletes pages of an embedded store, with their postings and their full-text index."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import zstandard

from opensearch_winnow.cython_core.sorted_postings import sorted_postings
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.record import Record, with_text_of
from opensearch_winnow.mappings.sqlite_schema import FIELDS_OF, PAGE_SIZE
from opensearch_winnow.mappings.stored_fields import TEXTS
from opensearch_winnow.queries.asking.lookups import Field
from opensearch_winnow.stores.blocked_pages import SETTING as BLOCKED, BlockedPages
from opensearch_winnow.stores.embedded.file import StoreFile
from opensearch_winnow.stores.embedded.postings import Postings
from opensearch_winnow.stores.embedded.reading import read_pages
from opensearch_winnow.stores.embedded.rows import (
    FACT_NAMES,
    SEALED_TABLES,
    location_row,
    page_numbers,
    page_row,
    required_row,
    row_checksum,
    sealed_rows,
)
from opensearch_winnow.stores.embedded.seals import SEAL_BYTES, sealed
from opensearch_winnow.stores.embedded.settings import read_setting
from opensearch_winnow.stores.embedded.text_index import TextIndex
from opensearch_winnow.stores.store import WriteOutcome

FIELDS: tuple[Field, ...] = get_args(Field)  # each has the table of its name

# The postings of deleted pages are removed together, in one pass over all postings, when there are more than
# MIN_GONE_PAGES of these pages and more than one for every GONE_SHARE pages. So at most 2 % of what lookups read is
# useless, and each deleted posting costs the rewriting of at most fifty others.
MIN_GONE_PAGES = 1_000
GONE_SHARE = 50
COMPRESSION_LEVEL = 1  # of zstd: texts shrink to 40 % of their size, in 60 µs per page of 6.4 kB
# From SQLite's file format. A leaf, a page with rows, has a header. A row that is too large for a leaf fills pages of
# its own, and only the rest of it is on the leaf, or its first bytes if the rest is too large as well.
LEAF_BYTES = PAGE_SIZE - 8
MAX_ROW_BYTES = PAGE_SIZE - 35
MIN_ROW_BYTES = (PAGE_SIZE - 12) * 32 // 255 - 23
OVERFLOW_BYTES = PAGE_SIZE - 4
ROW_HEADER_BYTES = 24  # at most: the row's number and size, the sizes of its columns, and where it is on the leaf


class _PageRows(NamedTuple):
    """The rows of a record, made before the transaction starts: during it, other writers have to wait."""

    record: Record
    key: bytes
    row: tuple[Any, ...]
    sealed: dict[str, tuple[Any, ...]]  # by table


def write_pages(file: StoreFile, records: Sequence[Record], scheme: Scheme) -> list[WriteOutcome]:
    """Write records in one transaction. Of records with the same id, the last one is stored.

    The list of blocked pages is read in the same transaction. Blocking a page adds it to the list first, and deletes
    its captures afterwards. So what was written before the change of the list is deleted, and nothing is written later.
    """
    ids = [record.id for record in records]
    pages = _pages(dict(zip(ids, records, strict=True)).values(), scheme)
    known: set[str] = set()
    allowed: set[str] = set()
    if pages:
        with file.writing() as db:
            blocked = BlockedPages(read_setting(db, BLOCKED))
            pages = [page for page in pages if page.record.url not in blocked]
            allowed.update(page.key.hex() for page in pages)
            known.update(_write(db, pages) if pages else ())
    written = []
    for id_ in ids:
        outcome: Literal["added", "replaced"] = "replaced" if id_ in known else "added"
        written.append(WriteOutcome(id_, outcome if id_ in allowed else "blocked"))
        known.add(id_)
    return written


def set_fingerprints(file: StoreFile, records: Sequence[Record], scheme: Scheme) -> int:
    """Set the fingerprints of pages that still have the text of their record, and return how many pages exist."""

    def rotated(stored: Record, record: Record) -> Record | None:
        old, new = stored.hashes, record.hashes
        if old.text_digest != new.text_digest:
            return None
        return replace(stored, hashes=replace(old, fingerprints=new.fingerprints, positions=new.positions))

    return _change(file, records, scheme, rotated)


def set_texts(file: StoreFile, records: Sequence[Record], scheme: Scheme) -> int:
    """Set title, text and hashes of pages that still have the content of their record; return how many pages exist."""

    def filled(stored: Record, record: Record) -> Record | None:
        return with_text_of(stored, record) if stored.content_digest == record.content_digest else None

    return _change(file, records, scheme, filled)


def _change(
    file: StoreFile, records: Sequence[Record], scheme: Scheme, changed_by: Callable[[Record, Record], Record | None]
) -> int:
    """Replace stored pages by `changed_by(stored, record)`, unless that is None; return how many pages exist.

    Each replaced page gets a new number: postings are only ever added, or dropped with their page.
    """
    with file.writing() as db:
        stored = read_pages(db, [record.id for record in records], Record, scheme)
        found = (changed_by(stored[each.id], each) for each in records if each.id in stored)
        changed = [each for each in found if each is not None]
        if changed:
            _write(db, _pages(changed, scheme))
    return len(stored)


def _pages(records: Iterable[Record], scheme: Scheme) -> list[_PageRows]:
    compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL)
    return [
        _PageRows(record, bytes.fromhex(record.id), page_row(record), sealed_rows(record, scheme, compressor))
        for record in records
    ]


def _write(db: sqlite3.Connection, pages: Sequence[_PageRows]) -> list[str]:
    """Write pages and return the ids of pages that existed before."""
    before = {}
    for page in pages:
        row = db.execute("SELECT number, arrival FROM page WHERE id = ?", (page.key,)).fetchone()
        if row:
            before[page.key] = row
    _delete_rows(db, [number for number, _ in before.values()])
    (first,) = db.execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence").fetchone()
    # Page numbers follow the order in which texts best fill the file; arrivals follow the order of writing. Copies keep
    # the order of writing in their numbers too: the first of them is the original of the others.
    sizes = [len(page.sealed[TEXTS][0]) + SEAL_BYTES for page in pages]
    order = leaf_order(sizes, [page.record.hashes.shingle_digest for page in pages])
    arrivals = [before.get(pages[index].key, (None, first + index))[1] for index in order]
    pages = [pages[index] for index in order]
    numbers = range(first, first + len(pages))
    names = ("number", "arrival", "latest", "cluster", "checksum", *FACT_NAMES)
    db.executemany(
        f"INSERT INTO page ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        ((number, arrival, *page.row) for number, arrival, page in zip(numbers, arrivals, pages, strict=True)),
    )
    for table in SEALED_TABLES:
        sealed_names = [each.name for each in FIELDS_OF[table]]
        db.executemany(
            f"INSERT INTO {table} (number, {', '.join(sealed_names)}) VALUES (?{', ?' * len(sealed_names)})",
            (
                (number, *(each if each is None else sealed(each, number) for each in page.sealed[table]))
                for number, page in zip(numbers, pages, strict=True)
            ),
        )
    _write_sources(db, zip(numbers, (page.record.source for page in pages), strict=True))
    TextIndex(db).add(numbers, [page.record.title or "" for page in pages], [page.record.text for page in pages])
    for field in FIELDS:
        _add_postings(db, field, [getattr(page.record.hashes, field) for page in pages], numbers)
    _set_latest(db, {page.record.url for page in pages})
    _drop_postings(db)
    return [key.hex() for key in before]


def _write_sources(db: sqlite3.Connection, sources: Iterable[tuple[int, ArchiveLocation | None]]) -> None:
    known: dict[tuple[str, str, int, str], int] = {}
    for number, source in sources:
        if source is None:
            continue
        file, offset, length, record_type, status, mime = row = location_row(source)
        key = file, record_type, status, mime
        if key not in known:
            db.execute("INSERT OR IGNORE INTO source (file, record_type, status, mime) VALUES (?, ?, ?, ?)", key)
            query = "SELECT source FROM source WHERE file = ? AND record_type = ? AND status = ? AND mime = ?"
            (known[key],) = required_row(db.execute(query, key))
        seal = row_checksum(number, *row)
        db.execute("INSERT INTO page_source VALUES (?, ?, ?, ?, ?)", (number, known[key], offset, length, seal))


def remove_pages(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete pages by number, in a transaction of the caller."""
    urls = {required_row(db.execute("SELECT url FROM page WHERE number = ?", (number,)))[0] for number in numbers}
    _delete_rows(db, numbers)
    _set_latest(db, urls)
    _drop_postings(db)


def gone_pages(db: sqlite3.Connection) -> array[int]:
    """Return the numbers of deleted pages whose postings are still stored, in order."""
    return page_numbers(number for (number,) in db.execute("SELECT number FROM gone ORDER BY number"))


def drop_gone_pages(db: sqlite3.Connection) -> None:
    """Remove the postings of deleted pages, in one pass over all postings."""
    pages = gone_pages(db)
    if pages:
        for field in FIELDS:
            Postings(db, field).drop(pages)
        TextIndex(db).drop(pages)
        db.execute("DELETE FROM gone")


def _delete_rows(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    TextIndex(db).forget(numbers)
    parameters = [(number,) for number in numbers]
    for table in ("page", *SEALED_TABLES, "page_source"):
        db.executemany(f"DELETE FROM {table} WHERE number = ?", parameters)
    db.executemany("INSERT INTO gone VALUES (?)", parameters)


def _add_postings(db: sqlite3.Connection, field: str, tokens: Sequence[array[int]], numbers: Sequence[int]) -> None:
    joined = array("Q", b"".join(tokens))
    if joined:
        postings = sorted_postings(joined, array("I", map(len, tokens)), page_numbers(numbers))
        Postings(db, field).add(*postings)


def _drop_postings(db: sqlite3.Connection) -> None:
    if db.execute("SELECT 1 FROM page LIMIT 1").fetchone() is None:
        for table in (*FIELDS, "run", "gone"):
            db.execute(f"DELETE FROM {table}")
        TextIndex(db).clear()
        return
    (count,) = db.execute("SELECT count(*) FROM gone").fetchone()
    if count > MIN_GONE_PAGES and count > db.execute("SELECT count(*) FROM page").fetchone()[0] // GONE_SHARE:
        drop_gone_pages(db)


def _set_latest(db: sqlite3.Connection, urls: Iterable[str]) -> None:
    for url in urls:
        # No two captures of a URL have the same time. An unknown time is NULL, which is the smallest.
        captures = db.execute("SELECT number, latest FROM page WHERE url = ? ORDER BY fetched_at DESC", (url,))
        changed = [(not rank, number) for rank, (number, latest) in enumerate(captures) if (not rank) != latest]
        db.executemany("UPDATE page SET latest = ? WHERE number = ?", changed)


def leaf_order(sizes: Sequence[int], families: Sequence[str]) -> list[int]:
    """Return the indices of rows of these sizes, in an order that leaves few bytes of the leaves empty.

    SQLite appends rows to a leaf, and begins another where a row does not fit. In the order of a crawl, that leaves a
    fifth of the bytes empty. Here, each leaf gets the largest row that is left, then the largest that still fits. Then
    the rows of each family, which are about as large, are exchanged until they are in their old order.
    """
    order = []
    waiting = sorted(range(len(sizes)), key=lambda index: _bytes_on_leaf(sizes[index]))
    lengths = [_bytes_on_leaf(sizes[index]) for index in waiting]
    free = LEAF_BYTES
    while waiting:
        at = bisect_right(lengths, free) - 1
        if at < 0:
            at, free = len(waiting) - 1, LEAF_BYTES
        free -= lengths.pop(at)
        order.append(waiting.pop(at))
    members: dict[str, list[int]] = {}  # the first one last
    for index in reversed(range(len(sizes))):
        members.setdefault(families[index], []).append(index)
    return [members[families[index]].pop() for index in order]


def _bytes_on_leaf(size: int) -> int:
    if size > MAX_ROW_BYTES:
        rest = MIN_ROW_BYTES + (size - MIN_ROW_BYTES) % OVERFLOW_BYTES
        size = rest if rest <= MAX_ROW_BYTES else MIN_ROW_BYTES
    return size + ROW_HEADER_BYTES
