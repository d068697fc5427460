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
from typing import Any, NamedTuple, ParamSpec, TypeVar
from zlib import crc32

import zstandard

from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import KOALA, Scheme
from opensearch_winnow.foundation.selection import fingerprints_at
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.record import EPOCH, Record, StoredDigests, in_order, microseconds, storable
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.embedded.seals import unsealed

ID = re.compile(r"[0-9a-f]{32}")

# The columns that never change, with their checksum; the columns of a source; of a record; and of a card.
FACTS = (
    "checksum, page.id, url, site, crawl, title, fetched_at, payload_digest, content_digest, text_digest,"
    " shingle_digest, fingerprint_count, shingle_count, sketch_count, duplicate, duplicate_of, canonical"
)
SOURCE = 'seal, number, file, page_source."offset", page_source."length", record_type, status, mime'
PAGE_AND_SOURCE = "page LEFT JOIN page_source USING (number) LEFT JOIN source USING (source)"
RECORD = f"{SOURCE}, cluster, text, fingerprints, positions, bands, sketch, minhash, {FACTS}"
WHOLE_PAGE = (
    f"{PAGE_AND_SOURCE} JOIN page_text USING (number) JOIN page_fingerprints USING (number)"
    " JOIN page_sketches USING (number)"
)
CARD = f"cluster, latest, {FACTS}"
CAPTURE_ENTRY = f"{SOURCE}, {CARD}"
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
    facts = Facts(
        bytes.fromhex(id_),
        record.url,
        record.site,
        record.crawl,
        record.title,
        None if record.fetched_at is None else microseconds(record.fetched_at),
        record.payload_digest,
        packed(record.content_digest),
        packed(record.text_digest),
        packed(record.shingle_digest),
        record.fingerprint_count,
        record.shingle_count,
        record.sketch_count,
        record.duplicate,
        record.duplicate_of,
        "" if record.canonical == record.url else record.canonical,
    )
    cluster = None if record.cluster == id_ else packed(record.cluster)
    return *facts[:6], 1, *facts[6:-1], cluster, facts.checksum, facts.canonical


class Facts(NamedTuple):
    """The columns of FACTS, without the checksum. Digests are packed."""

    id: bytes
    url: str
    site: str
    crawl: str
    title: str | None
    time: int | None
    payload_digest: str | None
    content_digest: bytes | str
    text_digest: bytes | str
    shingle_digest: bytes | str
    fingerprint_count: int
    shingle_count: int
    sketch_count: int
    duplicate: Any
    duplicate_of: str | None
    canonical: str | None = None  # as it is stored: empty for `url`

    @property
    def canonical_url(self) -> str | None:
        return self.url if self.canonical == "" else self.canonical

    @property
    def checksum(self) -> int:
        # Without a canonical URL, the checksum is that of older formats.
        canonical = "" if self.canonical is None else f"\0{self.canonical}"
        content, text, shingles = map(unpacked, (self.content_digest, self.text_digest, self.shingle_digest))
        return crc32(
            f"{self.url}\0{self.site}\0{self.crawl}\0{self.title}\0{self.time}\0{self.payload_digest}\0{content}"
            f"\0{text}\0{shingles}\0{self.fingerprint_count}\0{self.shingle_count}\0{self.sketch_count}"
            f"\0{self.duplicate}\0{self.duplicate_of}{canonical}".encode(),
            crc32(self.id),
        )


def facts_checksum(*columns: Any) -> int:
    """Return the checksum of the columns of FACTS."""
    return Facts(*columns).checksum


def row_checksum(*columns: str | int) -> int:
    """Return the checksum of the columns of a setting, of the scheme, or of a source."""
    return crc32("\0".join(map(str, columns)).encode())


def location_row(location: ArchiveLocation) -> tuple[str, int, int, str, int, str]:
    """Return the columns of SOURCE from `file` on."""
    return *location[:4], location.status or 0, location.mime or ""


def fingerprints_row(record: Record, scheme: Scheme) -> tuple[bytes, ...]:
    """Return the row of table `page_fingerprints`, without the number, and not sealed.

    Fingerprints of Koala are left out if the text has them: their positions take a byte or two each, the hashes eight.
    """
    prints, bands = (in_order(numbers, "little") for numbers in (record.fingerprints, record.bands))
    if scheme.selection == KOALA and _hashes_in_text(record.text, record.url, record.positions, scheme) == prints:
        prints = b""
    return prints, pack_positions(record.positions), bands


def _hashes_in_text(text: str, url: str, positions: array[int], scheme: Scheme) -> bytes:
    """Return the fingerprints of Koala that a text has at these positions, as they would be stored."""
    return in_order(fingerprints_at(canonical(text, scheme, name=url).chars, positions, scheme), "little")


def sketches_row(record: Record) -> tuple[bytes, ...]:
    """Return the row of table `page_sketches`, without the number, and not sealed."""
    return in_order(record.sketch, "little"), record.minhash


@reporting_damage
def record_of(row: Row, scheme: Scheme) -> Record:
    """Make a record from the columns of RECORD."""
    number, source = row[1], location_of(row[:8])
    cluster, packed_text, prints, packed_positions, bands, sketch, minhash = row[8:15]
    facts = facts_of(row[15:])
    text = text_of(packed_text, number)
    prints, positions = unsealed(prints, number), unpack_positions(unsealed(packed_positions, number))
    if positions and not prints:
        prints = _hashes_in_text(text, facts.url, positions, scheme)
    return Record(
        url=facts.url,
        site=facts.site,
        crawl=facts.crawl,
        title=facts.title,
        text=text,
        fetched_at=time_of(facts.time),
        payload_digest=facts.payload_digest,
        content_digest=unpacked(facts.content_digest),
        text_digest=unpacked(facts.text_digest),
        shingle_digest=unpacked(facts.shingle_digest),
        fingerprints=hashes_of(prints),
        positions=positions,
        shingle_count=facts.shingle_count,
        sketch=hashes_of(unsealed(sketch, number)),
        minhash=unsealed(minhash, number),
        bands=hashes_of(unsealed(bands, number)),
        duplicate=facts.duplicate,
        duplicate_of=facts.duplicate_of,
        cluster=unpacked(facts.id if cluster is None else cluster),
        source=source,
        canonical=facts.canonical_url,
    )


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
    facts = facts_of(row[10:])
    return CaptureEntry(card_of(row[8:]), facts.payload_digest, unpacked(facts.content_digest), location_of(row[:8]))


@reporting_damage
def card_of(row: Row) -> Card:
    """Make a card from the columns of CARD."""
    cluster, latest = row[:2]
    facts = facts_of(row[2:])
    return Card(
        facts.id.hex(),
        facts.url,
        facts.site,
        facts.crawl,
        facts.title,
        time_of(facts.time),
        bool(latest),
        unpacked(facts.text_digest),
        facts.fingerprint_count,
        facts.shingle_count,
        facts.sketch_count,
        facts.duplicate,
        facts.duplicate_of,
        unpacked(facts.id if cluster is None else cluster),
        facts.canonical_url,
    )


@reporting_damage
def digests_of(row: Row) -> StoredDigests:
    """Make digests from the columns of FACTS."""
    facts = facts_of(row)
    digests = map(unpacked, (facts.content_digest, facts.text_digest, facts.shingle_digest))
    return StoredDigests(facts.id.hex(), facts.url, *digests)


def facts_of(row: Row) -> Facts:
    """Return the columns of FACTS, after comparing them with their checksum."""
    facts = Facts(*row[1:])
    if row[0] != facts.checksum:
        raise sqlite3.DatabaseError("a checksum is wrong")
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


@reporting_damage
def hashes_of(stored: bytes) -> array[int]:
    hashes = array("Q", stored)
    if sys.byteorder == "big":
        hashes.byteswap()
    return hashes


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
    return None if stored is None else EPOCH + timedelta(microseconds=stored)
