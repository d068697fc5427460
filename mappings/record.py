"""Defines the record, which is stored for a capture, and converts it to and from JSON values."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.written_time import in_utc, microseconds
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.stored_fields import (
    COUNT,
    DIGEST,
    ELSEWHERE,
    FINGERPRINTS,
    HASHES,
    KEYWORD,
    LOCATION,
    LOOKED_UP,
    NOT_SEARCHABLE,
    POSITIONS,
    SEARCHABLE,
    SIGNATURE,
    SKETCHES,
    TEXT,
    TEXT_MAPPING,
    TEXTS,
    TIME,
    StoredField,
    fields_of,
    has_stored_fields,
    nested,
    stored,
    text_attributes_of,
)

# The ways to equal an earlier page: as the crawler recorded, byte by byte, as canonical text, or in all shingles.
DUPLICATES = ("revisit", "content", "text", "shingles")


class RecordsError(WinnowError):
    """Stored records that cannot be used: damaged, or made by another program, format, scheme or key."""


def no_hashes() -> array[int]:
    return array("Q")


def no_positions() -> array[int]:
    return array("I")


@has_stored_fields(frozen=True)
class Hashes:
    """The part of a record that depends only on the canonical text."""

    text_digest: str = stored(DIGEST, default="")
    shingle_digest: str = stored(DIGEST, default="", mapping=SEARCHABLE)
    # The hashes in the order of the text, and their positions in the canonical text.
    fingerprints: array[int] = stored(
        HASHES, default_factory=no_hashes, table=FINGERPRINTS, counted="fingerprint_count"
    )
    positions: array[int] = stored(POSITIONS, default_factory=no_positions, table=FINGERPRINTS)
    shingle_count: int = stored(COUNT, default=0)
    # The MOD_m shingles, sorted.
    sketch: array[int] = stored(HASHES, default_factory=no_hashes, table=SKETCHES, counted="sketch_count")
    minhash: bytes = stored(SIGNATURE, default=b"", table=SKETCHES)
    bands: array[int] = stored(HASHES, default_factory=no_hashes, table=FINGERPRINTS)

    def __post_init__(self) -> None:
        for name, numbers, typecode in (
            ("fingerprints", self.fingerprints, "Q"),
            ("positions", self.positions, "I"),
            ("sketch", self.sketch, "Q"),
            ("bands", self.bands, "Q"),
        ):
            if numbers.typecode != typecode:
                raise ValueError(f"{name} of a record is an array of {typecode!r}")
        if len(self.positions) != len(self.fingerprints):
            raise ValueError("a record has a position for each fingerprint")

    @property
    def fingerprint_count(self) -> int:
        """The number of distinct fingerprints: a passage that is on a page twice has its fingerprints twice."""
        return len(distinct(self.fingerprints))

    @property
    def sketch_count(self) -> int:
        """The number of shingles in the sketch."""
        return len(self.sketch)


NO_HASHES = Hashes()  # of a page without text


@has_stored_fields
class Record:
    """All that is stored for a capture: metadata, text and hashes.

    Values are made storable when the record is created: a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD
    (offsets stay), and times are converted to UTC. By default, `site` is that of the URL and `cluster` the record's id.
    """

    url: str = stored(TEXT)
    site: str = stored(TEXT, default="")
    crawl: str = stored(TEXT, default="")
    title: str | None = stored(TEXT, default=None, mapping=TEXT_MAPPING, of_text=True)
    text: str = stored(TEXT, mapping=TEXT_MAPPING, table=TEXTS, of_text=True)
    fetched_at: datetime | None = stored(TIME, default=None)
    payload_digest: str | None = stored(TEXT, default=None, mapping=LOOKED_UP)  # of the bytes received, as in WARC
    content_digest: str = stored(DIGEST)
    hashes: Hashes = nested(Hashes)
    duplicate: Literal["revisit", "content", "text", "shingles"] | None = stored(  # how it equals an earlier page
        TEXT, default=None, mapping=NOT_SEARCHABLE
    )
    duplicate_of: str | None = stored(TEXT, default=None, mapping=NOT_SEARCHABLE)  # the URL of that page
    cluster: str = stored(DIGEST, default="", mapping=KEYWORD, table=ELSEWHERE)
    source: ArchiveLocation | None = stored(LOCATION, default=None, table=ELSEWHERE)  # if read from a web archive
    # The URL that the page names with `<link rel="canonical">`, often its own. With doc values, because groups need it.
    canonical: str | None = stored(TEXT, default=None, mapping={**KEYWORD, "index": False}, of_text=True)
    attached_id: str = ""  # the id of a document of an attached index; empty if it is the id of the capture

    def __post_init__(self) -> None:
        if self.duplicate is not None and self.duplicate not in DUPLICATES:
            raise ValueError(f"a duplicate is one of {', '.join(DUPLICATES)}, not {self.duplicate!r}: {self.url}")
        for name in PLAIN_TEXTS:
            value = getattr(self, name)
            if value is not None and not value.isascii():
                setattr(self, name, storable(value))
        self.site = self.site or site_of(self.url)
        self.canonical = self.canonical or None
        if self.source is not None:
            self.source = self.source._replace(file=storable(self.source.file))
        if self.fetched_at is not None:
            self.fetched_at = in_utc(self.fetched_at)
        self.cluster = self.cluster or self.id

    @property
    def id(self) -> str:
        """The id of the capture, which does not depend on the content."""
        return self.attached_id or capture_id(self.url, self.fetched_at)


ID = StoredField("id", DIGEST, attrgetter("id"), KEYWORD, derived=True)
RECORD_FIELDS = (ID, *fields_of(Record))  # in the order in which layouts have them
VALUE_OF = {each.name: each.get for each in RECORD_FIELDS}  # functions that return the value of a record
READ_FIELDS = tuple(each for each in RECORD_FIELDS if not each.derived)
HASH_FIELDS = tuple(fields_of(Hashes))  # their `get` takes a Hashes
PLAIN_TEXTS = tuple(each.name for each in RECORD_FIELDS if each.kind is TEXT)
TEXT_ATTRIBUTES = text_attributes_of(Record)
_HASH_NAMES = tuple(each.name for each in HASH_FIELDS if not each.derived)
_OWN_NAMES = tuple(each.name for each in READ_FIELDS if each.name not in _HASH_NAMES)


def make_record(values: dict[str, Any], **others: Any) -> Record:
    """Make a record from the `values` of its fields and hashes, by name, and `others`. Derived values are ignored."""
    hashes = Hashes(**{name: values[name] for name in _HASH_NAMES if name in values})
    return Record(hashes=hashes, **{name: values[name] for name in _OWN_NAMES if name in values}, **others)


def with_text_of(record: Record, original: Record) -> Record:
    """Return `record` with the text of `original`, the page that it repeats, and the fields that depend on the text."""
    return replace(record, **{name: getattr(original, name) for name in TEXT_ATTRIBUTES})


class StoredDigests(NamedTuple):
    """The fields by which a run recognises captures, and content, that are already stored."""

    id: str
    url: str
    content_digest: str
    text_digest: str
    shingle_digest: str

    @classmethod
    def of(cls, record: Record) -> Self:
        hashes = record.hashes
        return cls(record.id, record.url, record.content_digest, hashes.text_digest, hashes.shingle_digest)


def capture_id(url: str, fetched_at: datetime | None) -> str:
    """Return the id of a capture: 32 hexadecimal digits. A time without a time zone is in UTC."""
    # A NUL, then the time in digits, or nothing if it is unknown: so no two captures give the same bytes.
    time = "" if fetched_at is None else microseconds(fetched_at)
    return blake2b(f"{storable(url)}\0{time}".encode(), digest_size=16, person=b"winnow capture").hexdigest()


def site_of(url: str) -> str:
    """Return the host of a URL in lower case, or "" if it has none, as file: URLs do not."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def bytes_in_memory(record: Record) -> int:
    """Estimate the bytes that `record` takes in memory."""
    hashes = record.hashes
    numbers = len(hashes.fingerprints) * 12 + (len(hashes.sketch) + len(hashes.bands)) * 8
    return sys.getsizeof(record.text) + numbers + len(hashes.minhash) + 1_500


def as_document(record: Record) -> dict[str, Any]:
    """Return the record as JSON values, for JSON lines: its id, its fields in order, and the counts."""
    return {each.name: _as_json(each, record) for each in RECORD_FIELDS}


def from_document(document: Mapping[str, Any]) -> Record:
    """Return the record of a document. Counts and unknown fields are ignored, and missing optional fields are null."""
    try:
        return make_record({each.name: _from_json(each, document) for each in READ_FIELDS})
    except KeyError as error:
        raise RecordsError(f"not the document of a record: it has no {error.args[0]}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None


def _as_json(field: StoredField, record: Record) -> Any:
    value, codec = field.get(record), field.kind.json
    return value if value is None or codec is None else codec.encode(value)


def _from_json(field: StoredField, document: Mapping[str, Any]) -> Any:
    value = document.get(field.name) if field.optional else document[field.name]
    if value is None and field.optional:
        return None
    if field.kind.json is not None:
        return field.kind.json.decode(value)
    if not isinstance(value, field.kind.type):
        raise ValueError(f"{field.name} is {value!r}")
    return value


def storable(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text
