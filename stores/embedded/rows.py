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

import zstandard

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import EPOCH, Record, in_order, microseconds, storable
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked
from opensearch_winnow.queries.filters import Filters

ID = re.compile(r"[0-9a-f]{32}")

# The columns of a record and of a card, in the order that `record_of` and `card_of` expect.
RECORD = (
    "page.id, url, site, crawl, title, fetched_at, payload_digest, content_digest, text_digest, shingle_digest,"
    " shingle_count, duplicate, duplicate_of, cluster, fingerprints, positions, sketch, minhash, bands, text"
)
WHOLE_PAGE = "page JOIN page_hashes USING (number) JOIN page_text USING (number)"
CARD = (
    "page.id, url, site, crawl, title, fetched_at, latest, text_digest, fingerprint_count, shingle_count, sketch_count,"
    " duplicate, duplicate_of, cluster"
)

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
    return (
        bytes.fromhex(id_),
        record.url,
        record.site,
        record.crawl,
        record.title,
        None if record.fetched_at is None else microseconds(record.fetched_at),
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
    )


def hashes_row(record: Record) -> tuple[bytes, ...]:
    """Return the row of table `page_hashes`, without the number."""
    prints, positions, sketch, bands = (
        in_order(numbers, "little") for numbers in (record.fingerprints, record.positions, record.sketch, record.bands)
    )
    return prints, positions, sketch, record.minhash, bands


@reporting_damage
def record_of(row: Row) -> Record:
    """Make a record from the columns of RECORD."""
    id_, url, site, crawl, title, time, payload, content, text, shingle = row[:10]
    shingle_count, duplicate, duplicate_of, cluster, prints, positions, sketch, minhash, bands, packed_text = row[10:]
    return Record(
        url=url,
        site=site,
        crawl=crawl,
        title=title,
        text=text_of(packed_text),
        fetched_at=time_of(time),
        payload_digest=payload,
        content_digest=unpacked(content),
        text_digest=unpacked(text),
        shingle_digest=unpacked(shingle),
        fingerprints=numbers_of("Q", prints),
        positions=numbers_of("I", positions),
        shingle_count=shingle_count,
        sketch=numbers_of("Q", sketch),
        minhash=minhash,
        bands=numbers_of("Q", bands),
        duplicate=duplicate,
        duplicate_of=duplicate_of,
        cluster=unpacked(id_ if cluster is None else cluster),
    )


@reporting_damage
def card_of(row: Row) -> Card:
    """Make a card from the columns of CARD."""
    id_, url, site, crawl, title, time, latest, digest, prints, shingles, sketch, duplicate, duplicate_of, cluster = row
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


def packed_text(text: str, compressor: zstandard.ZstdCompressor) -> bytes | str:
    """Return a text compressed, or as it is if that is shorter."""
    raw = text.encode()
    compressed = compressor.compress(raw)
    return compressed if len(compressed) < len(raw) else text


@reporting_damage
def text_of(stored: bytes | str) -> str:
    if isinstance(stored, str):
        return stored
    return zstandard.ZstdDecompressor().decompress(stored).decode() if stored else ""


def hashes_of(stored: bytes) -> array[int]:
    return numbers_of("Q", stored)


@reporting_damage
def numbers_of(typecode: str, stored: bytes) -> array[int]:
    numbers = array(typecode, stored)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@reporting_damage
def value_of(stored: str) -> Any:
    return json.loads(stored)


def time_of(stored: int | None) -> datetime | None:
    return None if stored is None else EPOCH + timedelta(microseconds=stored)
