"""Converts records to rows of a store's tables, and back."""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import wraps
from operator import itemgetter
from typing import Any, ParamSpec, TypeVar
from zlib import crc32

import zstandard

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import fingerprints_at
from opensearch_winnow.foundation.written_time import microseconds, time_at
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.hash_tokens import numbers_from, ordered_bytes
from opensearch_winnow.mappings.record import Record, StoredDigests, make_record, storable
from opensearch_winnow.mappings.sqlite_schema import FIELDS_OF
from opensearch_winnow.mappings.stored_fields import (
    FACTS,
    FINGERPRINTS,
    SKETCHES,
    TEXTS,
    StoredField,
    packed_digest,
    unpacked_digest,
)
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.embedded.seals import unsealed

ID = re.compile(r"[0-9a-f]{32}")

# The columns that never change, with their checksum; the columns of a source; of a record; and of a card.
FACT_NAMES = tuple(each.name for each in FIELDS_OF[FACTS])
FACT_COLUMNS = ", ".join(f"page.{name}" for name in ("checksum", *FACT_NAMES))
SOURCE = 'seal, number, file, page_source."offset", page_source."length", record_type, status, mime'
PAGE_AND_SOURCE = "page LEFT JOIN page_source USING (number) LEFT JOIN source USING (source)"
SEALED_TABLES = (TEXTS, FINGERPRINTS, SKETCHES)
SEALED_FIELDS = tuple(each for table in SEALED_TABLES for each in FIELDS_OF[table])
RECORD = f"{SOURCE}, cluster, {', '.join(each.name for each in SEALED_FIELDS)}, {FACT_COLUMNS}"
WHOLE_PAGE = " ".join((PAGE_AND_SOURCE, *(f"JOIN {table} USING (number)" for table in SEALED_TABLES)))
CARD = f"cluster, latest, {FACT_COLUMNS}"
CAPTURE_ENTRY = f"{SOURCE}, {CARD}"
URL, CANONICAL = FACT_NAMES.index("url"), FACT_NAMES.index("canonical")
# Cards are made by the thousand. So the columns that are encoded, and the values of a card, are looked up once.
FACT_CODECS = tuple((i, each.kind.sqlite) for i, each in enumerate(FIELDS_OF[FACTS]) if each.kind.sqlite)
card_values = itemgetter(*map((*FACT_NAMES, "latest", "cluster").index, Card._fields))
digest_values = itemgetter(*map(FACT_NAMES.index, StoredDigests._fields))
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"  # the first bytes of a packed text; no UTF-8 has them

Row = Sequence[Any]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def reporting_damage(decode: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function that decodes stored data: convert its errors into a DatabaseError about a damaged file."""

    @wraps(decode)
    def decode_or_report(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return decode(*args, **kwargs)
        # MemoryError, because a damaged compressed text can claim any size.
        except (AttributeError, TypeError, ValueError, OverflowError, MemoryError, zstandard.ZstdError) as error:
            raise sqlite3.DatabaseError(f"a row is invalid: {error}") from None

    return decode_or_report


def required_row(cursor: sqlite3.Cursor) -> Row:
    """Return the row of a query that must have one."""
    row: Row | None = cursor.fetchone()
    if row is None:
        raise sqlite3.DatabaseError("a row is missing")
    return row


def page_row(record: Record) -> tuple[Any, ...]:
    """Return the row of table `page` from column `latest` on. `latest` is set, and corrected after the write."""
    facts = [each.get(record) for each in FIELDS_OF[FACTS]]
    for i, codec in FACT_CODECS:
        if facts[i] is not None:
            facts[i] = codec.encode(facts[i])
    if record.canonical == record.url:
        facts[CANONICAL] = ""  # most pages name themselves
    cluster = None if record.cluster == record.id else packed_digest(record.cluster)
    return 1, cluster, facts_checksum(facts), *facts


def _encoded(field: StoredField, record: Record) -> Any:
    value, codec = field.get(record), field.kind.sqlite
    return value if value is None or codec is None else codec.encode(value)


def facts_checksum(facts: Sequence[Any]) -> int:
    """Return the checksum of the columns of FACT_COLUMNS.

    The last ones do not count while they are NULL: a column that is added behind them changes no checksum.
    """
    end = len(facts)
    while facts[end - 1] is None:
        end -= 1
    known = [each.hex() if isinstance(each, bytes) else str(each) for each in facts[:end]]
    return crc32("\0".join(known).encode("utf-8", "surrogatepass"))


def row_checksum(*columns: str | int) -> int:
    """Return the checksum of the columns of a setting, of the scheme, or of a source."""
    return crc32("\0".join(map(str, columns)).encode())


def location_row(location: ArchiveLocation) -> tuple[str, int, int, str, int, str]:
    """Return the columns of SOURCE from `file` on."""
    return *location[:4], location.status or 0, location.mime or ""


def sealed_rows(record: Record, scheme: Scheme, compressor: zstandard.ZstdCompressor) -> dict[str, tuple[Any, ...]]:
    """Return the rows of SEALED_TABLES, without the number, and not sealed.

    Fingerprints that can be computed from text and positions are left out: a hash takes 8 bytes, a position 1 or 2.
    """
    rows = {table: tuple(_encoded(each, record) for each in FIELDS_OF[table]) for table in SEALED_TABLES}
    rows[TEXTS] = (packed_text(record.text, compressor),)
    if scheme.stores_part:
        prints, *others = rows[FINGERPRINTS]
        if _hashes_in_text(record.text, record.url, record.hashes.positions, scheme) == prints:
            rows[FINGERPRINTS] = (b"", *others)
    return rows


def _hashes_in_text(text: str, url: str, positions: array[int], scheme: Scheme) -> bytes:
    """Return the fingerprints of a text at these positions, in their stored form."""
    return ordered_bytes(fingerprints_at(canonical(text, scheme, name=url).chars, positions, scheme), "little")


@reporting_damage
def record_of(row: Row, scheme: Scheme) -> Record:
    """Make a record from the columns of RECORD."""
    number, source, cluster = row[1], location_of(row[:8]), row[8]
    end = 9 + len(SEALED_FIELDS)
    values = dict(zip(FACT_NAMES, facts_of(row[end:]), strict=True))
    values["cluster"] = values["id"] if cluster is None else unpacked_digest(cluster)
    values["source"] = source
    for (name, decode), sealed in zip(SEALED_DECODERS, row[9:end], strict=True):
        values[name] = None if sealed is None else decode(unsealed(sealed, number))
    if values["positions"] and not values["fingerprints"]:
        prints = _hashes_in_text(values["text"], values["url"], values["positions"], scheme)
        values["fingerprints"] = hashes_of(prints)
    return make_record(values)


def location_of(row: Row) -> ArchiveLocation | None:
    """Make a location from the columns of SOURCE, after comparing them with their checksum; None if they are NULL."""
    seal, _, file, offset, length, record_type, status, mime = row
    if seal is None:
        return None
    if seal != row_checksum(*row[1:]):
        raise sqlite3.DatabaseError("a checksum is wrong")
    return ArchiveLocation(file, offset, length, record_type, status or None, mime or None)


@reporting_damage
def entry_of(row: Row) -> CaptureEntry:
    """Make an entry from the columns of CAPTURE_ENTRY."""
    entry = dict(zip(FACT_NAMES, facts_of(row[10:]), strict=True))
    return CaptureEntry(card_of(row[8:]), entry["payload_digest"], entry["content_digest"], location_of(row[:8]))


@reporting_damage
def card_of(row: Row) -> Card:
    """Make a card from the columns of CARD."""
    cluster, latest = row[:2]
    facts = facts_of(row[2:])
    facts += bool(latest), facts[0] if cluster is None else unpacked_digest(cluster)
    return Card._make(card_values(facts))


@reporting_damage
def digests_of(row: Row) -> StoredDigests:
    """Make digests from the columns of FACT_COLUMNS."""
    return StoredDigests._make(digest_values(facts_of(row)))


def facts_of(row: Row) -> list[Any]:
    """Return the values of FACT_COLUMNS, after comparing them with their checksum."""
    checksum, *facts = row
    if checksum != facts_checksum(facts):
        raise sqlite3.DatabaseError("a checksum is wrong")
    for i, codec in FACT_CODECS:
        if facts[i] is not None:
            facts[i] = codec.decode(facts[i])
    if facts[CANONICAL] == "":
        facts[CANONICAL] = facts[URL]
    return facts


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
    """Return the valid ones of `ids` in their stored form."""
    return [bytes.fromhex(each) for each in ids if ID.fullmatch(each)]


def packed_text(text: str, compressor: zstandard.ZstdCompressor) -> bytes:
    """Return a text compressed, or as UTF-8 if that is shorter; not sealed."""
    raw = text.encode()
    compressed = compressor.compress(raw)
    return compressed if len(compressed) < len(raw) else raw


@reporting_damage
def text_of(stored: bytes, number: int) -> str:
    """Return the text of the page `number`. Every text of a store is read, and checked, here."""
    return _unpacked_text(unsealed(stored, number))


def _unpacked_text(raw: bytes) -> str:
    return (zstandard.ZstdDecompressor().decompress(raw) if raw.startswith(ZSTD_FRAME) else raw).decode()


SEALED_DECODERS = tuple(
    (each.name, _unpacked_text if each.table == TEXTS else each.kind.sqlite.decode if each.kind.sqlite else bytes)
    for each in SEALED_FIELDS
)


@reporting_damage
def hashes_of(stored: bytes) -> array[int]:
    return numbers_from(stored, "Q", "little")


@reporting_damage
def page_numbers(numbers: Iterable[int]) -> array[int]:
    return array("I", numbers)


@reporting_damage
def setting_of(name: str, value: str, checksum: int) -> Any:
    """Return the value of a setting, after comparing it with its checksum."""
    if checksum != row_checksum(name, value):
        raise sqlite3.DatabaseError("a checksum is wrong")
    return json.loads(value)


def time_of(stored: int | None) -> datetime | None:
    return None if stored is None else time_at(stored)
