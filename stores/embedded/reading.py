"""Reads pages from the file: by id, or all that meet a selection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.record import Record, StoredDigests, storable
from opensearch_winnow.mappings.stored_fields import packed_digest
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.stores.embedded.file import StoreFile
from opensearch_winnow.stores.embedded.rows import (
    CAPTURE_ENTRY,
    CARD,
    FACT_COLUMNS,
    PAGE_AND_SOURCE,
    RECORD,
    WHOLE_PAGE,
    Row,
    card_of,
    conditions,
    digests_of,
    entry_of,
    hashes_of,
    keys,
    record_of,
    text_of,
)
from opensearch_winnow.stores.embedded.seals import unsealed
from opensearch_winnow.stores.store import Fields, Order, Text

BATCH_SIZE = 100  # pages in memory during a scan
MAX_PARAMETERS = 500  # of a statement; SQLite may be built to take 999
NO_LIMIT = -1  # in SQLite's LIMIT
LAST_CHARACTER = "\U0010ffff"  # sorts after every other

ORDERS: dict[Order, str] = {
    "written": "arrival",
    "newest": "fetched_at DESC",  # NULL sorts as the smallest value
    "oldest": "fetched_at IS NULL, fetched_at, length(url), url",
    "url": "url, arrival",
}
# A page whose cluster is its own id has NULL there.
MEMBERS = """
SELECT number FROM page WHERE cluster IN ({marks})
UNION ALL SELECT number FROM page WHERE id IN ({marks}) AND cluster IS NULL
"""
WITH_PAYLOAD = "SELECT number FROM page WHERE payload_digest IN (SELECT value FROM json_each(?))"
# Both indexes have revisits only. SQLite would choose the one that has all pages of a payload.
REPEATING = """
SELECT number FROM page INDEXED BY page_revisit_payload
WHERE duplicate = 'revisit' AND payload_digest IN (SELECT value FROM json_each(?))
UNION SELECT number FROM page INDEXED BY page_revisit_url
WHERE duplicate = 'revisit' AND duplicate_of IN (SELECT value FROM json_each(?))
"""


class _RowShape(NamedTuple):
    """The columns that the fields of a page are read from."""

    columns: str
    table: str
    make: Callable[[Row, Scheme], Any]


SHAPES: dict[type, _RowShape] = {
    Record: _RowShape(RECORD, WHOLE_PAGE, record_of),
    Card: _RowShape(CARD, "page", lambda row, _: card_of(row)),
    CaptureEntry: _RowShape(CAPTURE_ENTRY, PAGE_AND_SOURCE, lambda row, _: entry_of(row)),
    StoredDigests: _RowShape(FACT_COLUMNS, "page", lambda row, _: digests_of(row)),
    Sketches: _RowShape(
        "number, shingle_count, sketch, minhash",
        "page JOIN page_sketches USING (number)",
        lambda row, _: Sketches(row[1], hashes_of(unsealed(row[2], row[0])), unsealed(row[3], row[0])),
    ),
    Text: _RowShape("number, text", "page JOIN page_text USING (number)", lambda row, _: Text(text_of(row[1], row[0]))),
}


def read_pages(db: sqlite3.Connection, ids: Iterable[str], fields: type[Fields], scheme: Scheme) -> dict[str, Fields]:
    """Read pages by id; those that do not exist are left out."""
    shape = SHAPES[fields]
    found = by_id(db, f"page.id, {shape.columns}", shape.table, ids)
    return {key.hex(): shape.make(row, scheme) for key, *row in found}


def by_id(db: sqlite3.Connection, columns: str, table: str, ids: Iterable[str]) -> Iterator[Row]:
    """Select columns of pages by id, in any order."""
    for some in batches(dict.fromkeys(keys(ids)), MAX_PARAMETERS):
        marks = ", ".join("?" * len(some))
        rows = db.execute(f"SELECT {columns} FROM {table} WHERE page.id IN ({marks})", some)
        yield from iter(rows.fetchone, None)  # not from the cursor: a generator that is dropped late would close it


def scan_pages(
    file: StoreFile,
    fields: type[Fields],
    where: Filters,
    *,
    scheme: Scheme,
    order: Order,
    limit: int | None,
    offset: int,
) -> Iterator[Fields]:
    """Read all pages that meet `where`, as of one moment. With a limit, they are all in memory."""
    shape = SHAPES[fields]
    condition, parameters = _selected(where)
    query = f"SELECT {shape.columns} FROM {shape.table} WHERE {condition} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
    bounds = (NO_LIMIT if limit is None else max(limit, 0), offset)
    if limit is not None:
        with file.reading() as db:
            found = db.execute(query, (*parameters, *bounds)).fetchall()
            return iter([shape.make(row, scheme) for row in found])
    return _stream(file, query, (*parameters, *bounds), lambda row: shape.make(row, scheme))


def _stream(file: StoreFile, query: str, parameters: Sequence[Any], make: Callable[[Row], Fields]) -> Iterator[Fields]:
    """Read a batch at a time, on a connection of its own: the store may be written meanwhile."""
    with file.reading_on_own_connection() as db:
        cursor = db.execute(query, parameters)
        while some := cursor.fetchmany(BATCH_SIZE):
            yield from map(make, some)


def _selected(where: Filters) -> tuple[str, list[Any]]:
    """Return the filters, with the keys of a selection, as SQL on table `page` and its parameters."""
    condition, parameters = conditions(where)
    if isinstance(where, Selection):
        if where.url is not None:
            condition, parameters = f"{condition} AND page.url = ?", [*parameters, storable(where.url)]
        if where.urls is not None:
            urls = [storable(url) for url in where.urls]
            condition = f"{condition} AND page.url IN ({', '.join('?' * len(urls))})"
            parameters = [*parameters, *urls]
        if where.url_prefix is not None:
            prefix = storable(where.url_prefix)
            condition = f"{condition} AND page.url >= ? AND page.url < ?"
            parameters = [*parameters, prefix, prefix + LAST_CHARACTER]
        if where.url_part is not None:
            condition, parameters = f"{condition} AND instr(page.url, ?)", [*parameters, storable(where.url_part)]
        for keys, some in ((where.payload_digests, WITH_PAYLOAD), (where.repeats, REPEATING)):
            if keys is not None:
                listed = json.dumps([storable(each) for each in keys])
                condition = f"{condition} AND page.number IN ({some})"
                parameters = [*parameters, *[listed] * some.count("?")]
        if where.shingle_digests is not None:
            digests = [packed_digest(storable(each)) for each in where.shingle_digests]
            condition = f"{condition} AND page.shingle_digest IN ({', '.join('?' * len(digests))})"
            parameters = [*parameters, *digests]
        if where.clusters is not None:
            clusters = [packed_digest(storable(each)) for each in where.clusters]
            members = MEMBERS.format(marks=", ".join("?" * len(clusters)))
            condition, parameters = f"{condition} AND page.number IN ({members})", [*parameters, *clusters, *clusters]
    return condition, parameters
