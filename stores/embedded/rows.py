"""Converts records to rows of a store's tables, and back."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from zlib import crc32

import zstandard

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import EPOCH, Record, in_order, microseconds, storable
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.embedded.seals import sealed, unsealed

ID = re.compile(r"[0-9a-f]{32}")

# The columns of a record and of a card, in the order that `record_of` and `card_of` expect.
RECORD = (
    "number, checksum, page.id, url, site, crawl, title, fetched_at, payload_digest, content_digest, text_digest,"
    " shingle_digest, shingle_count, duplicate, duplicate_of, cluster, fingerprints, positions, sketch, minhash, bands,"
    " text"
)
WHOLE_PAGE = "page JOIN page_hashes USING (number) JOIN page_text USING (number)"
CARD = (
    "checksum, page.id, url, site, crawl, title, fetched_at, latest, text_digest, fingerprint_count, shingle_count,"
    " sketch_count, duplicate, duplicate_of, cluster"
)
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"  # the first bytes of a packed text; no UTF-8 has them

Row = Sequence[Any]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def reporting_damage(decode: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function that decodes stored data: if it fails, the file is damaged, and a DatabaseError says so."""

    @wraps(decode)
    def decode_or_report(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return decode(*args, **kwargs)
        # MemoryError, because a damaged compressed text can claim any size.
        except (AttributeError, TypeError, ValueError, OverflowError, MemoryError, zstandard.ZstdError) as error:
            raise sqlite3.DatabaseError(f"a row makes no sense: {error}") from None

    return decode_or_report


def required_row(cursor: sqlite3.Cursor) -> Row:
    """Return the row of a query that must have one."""
    row: Row | None = cursor.fetchone()
    if row is None:
        raise sqlite3.DatabaseError("a row is missing")
    return row


def page_row(record: Record) -> tuple[Any, ...]:
    """Return the row of table `page` from column `id` on. It is marked as the latest capture, until that is checked."""
    id_ = record.id
    key, time = bytes.fromhex(id_), None if record.fetched_at is None else microseconds(record.fetched_at)
    return (
        key,
        record.url,
        record.site,
        record.crawl,
        record.title,
        time,
        1,
        record.payload_digest,
        packed(record.content_digest),
        packed(record.text_digest),
        packed(record.shingle_digest),
        record.fingerprint_count,
        record.shingle_count,
        record.sketch_count,
        record.duplicate,
        record.duplicate_of,
        None if record.cluster == id_ else packed(record.cluster),
        card_checksum(key, record.url, record.site, record.crawl, record.title, time, record.duplicate_of),
    )


def card_checksum(
    id_: bytes, url: str, site: str, crawl: str, title: str | None, time: int | None, duplicate_of: str | None
) -> int:
    """Return the checksum of what a card shows of its page."""
    return crc32(f"{url}\0{site}\0{crawl}\0{title}\0{time}\0{duplicate_of}".encode(), crc32(id_))


def hashes_row(record: Record) -> tuple[bytes, ...]:
    """Return the row of table `page_hashes`, without the number, and not sealed."""
    prints, positions, sketch, bands = (
        in_order(numbers, "little") for numbers in (record.fingerprints, record.positions, record.sketch, record.bands)
    )
    return prints, positions, sketch, record.minhash, bands


@reporting_damage
def record_of(row: Row) -> Record:
    """Make a record from the columns of RECORD."""
    number, checksum, id_, url, site, crawl, title, time, payload, content, text, shingle = row[:12]
    shingle_count, duplicate, duplicate_of, cluster, prints, positions, sketch, minhash, bands, stored_text = row[12:]
    check_card(checksum, id_, url, site, crawl, title, time, duplicate_of)
    return Record(
        url=url,
        site=site,
        crawl=crawl,
        title=title,
        text=text_of(stored_text, number),
        fetched_at=time_of(time),
        payload_digest=payload,
        content_digest=unpacked(content),
        text_digest=unpacked(text),
        shingle_digest=unpacked(shingle),
        fingerprints=hashes_of(prints, number),
        positions=numbers_of("I", positions, number),
        shingle_count=shingle_count,
        sketch=hashes_of(sketch, number),
        minhash=unsealed(minhash, number),
        bands=hashes_of(bands, number),
        duplicate=duplicate,
        duplicate_of=duplicate_of,
        cluster=unpacked(id_ if cluster is None else cluster),
    )


@reporting_damage
def card_of(row: Row) -> Card:
    """Make a card from the columns of CARD."""
    checksum, id_, url, site, crawl, title, time, latest, digest = row[:9]
    prints, shingles, sketch, duplicate, duplicate_of, cluster = row[9:]
    check_card(checksum, id_, url, site, crawl, title, time, duplicate_of)
    return Card(
        id_.hex(),
        url,
        site,
        crawl,
        title,
        time_of(time),
        bool(latest),
        unpacked(digest),
        prints,
        shingles,
        sketch,
        duplicate,
        duplicate_of,
        unpacked(id_ if cluster is None else cluster),
    )


def check_card(checksum: int, *shown: Any) -> None:
    """Raise an error if `checksum` is not that of the columns `shown`, in the order of `card_checksum`."""
    if checksum != card_checksum(*shown):
        raise sqlite3.DatabaseError("a checksum is wrong")


def conditions(where: Filters) -> tuple[str, list[Any]]:
    """Return filters as an SQL condition on table `page`, with its parameters."""
    wanted: list[tuple[str, Any]] = []
    if where.site is not None:
        wanted.append(("page.site = ?", storable(where.site)))
    if where.crawl is not None:
        wanted.append(("page.crawl = ?", storable(where.crawl)))
    if where.since is not None:
        wanted.append(("page.fetched_at >= ?", microseconds(where.since)))
    if where.until is not None:
        wanted.append(("page.fetched_at < ?", microseconds(where.until)))
    sql = [each for each, _ in wanted] + ["page.latest"] * where.latest
    return " AND ".join(sql) or "TRUE", [value for _, value in wanted]


def keys(ids: Iterable[str]) -> list[bytes]:
    """Return ids as they are stored, without those that are not valid."""
    return [bytes.fromhex(each) for each in ids if ID.fullmatch(each)]


def packed_text(text: str, compressor: zstandard.ZstdCompressor) -> bytes:
    """Return a text compressed, or as UTF-8 if that is shorter; not sealed."""
    raw = text.encode()
    compressed = compressor.compress(raw)
    return compressed if len(compressed) < len(raw) else raw


@reporting_damage
def text_of(stored: bytes, number: int) -> str:
    """Return the text of a page by its number. Every text that leaves a store is read, and checked, here."""
    raw = unsealed(stored, number)
    return (zstandard.ZstdDecompressor().decompress(raw) if raw.startswith(ZSTD_FRAME) else raw).decode()


def hashes_of(stored: bytes, number: int) -> array[int]:
    return numbers_of("Q", stored, number)


@reporting_damage
def numbers_of(typecode: str, stored: bytes, number: int) -> array[int]:
    numbers = array(typecode, unsealed(stored, number))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@reporting_damage
def page_numbers(numbers: Iterable[int]) -> array[int]:
    return array("I", numbers)


@reporting_damage
def value_of(stored: str) -> Any:
    return json.loads(stored)


def time_of(stored: int | None) -> datetime | None:
    return None if stored is None else EPOCH + timedelta(microseconds=stored)


def add_functions(db: sqlite3.Connection) -> None:
    """Make the functions that migrations call known to SQLite."""
    db.create_function("sealed", 2, sealed)
    db.create_function("card_checksum", 7, card_checksum)
