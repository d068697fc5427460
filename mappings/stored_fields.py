"""Declares the fields of a record: each one once, with a kind that says how every layout stores its values.

    shingle_digest: str = stored(DIGEST, mapping=SEARCHABLE)

JSON lines, the documents and mappings of OpenSearch, Arrow's columns and SQLite's tables are made from these
declarations. So a new field is one line in `Record` or `Hashes`.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, dataclass_transform

from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from opensearch_winnow.foundation.written_time import microseconds, time_at, written_time
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.hash_tokens import (
    hex_tokens,
    numbers_from,
    ordered_bytes,
    packed_positions,
    packed_tokens,
    unpacked_hex_tokens,
    unpacked_positions,
    unpacked_tokens,
)

ANALYZER: Final = "winnow_words"
TEXT_MAPPING = {"type": "text", "analyzer": ANALYZER}
# Lucene refuses terms of more than 32,766 bytes, and a character has up to four. A longer value is stored, not indexed.
KEYWORD = {"type": "keyword", "ignore_above": 8191}
LOOKED_UP = {**KEYWORD, "doc_values": False}
NOT_SEARCHABLE = {"type": "keyword", "index": False, "doc_values": False}
SEARCHABLE = {"type": "keyword", "doc_values": False}
# On such a field, `bool.should` of `term` queries scores exactly the number of shared tokens. One text with all tokens
# takes less disk and less time than a keyword for each.
TOKENS_MAPPING = {
    "type": "text",
    "analyzer": "whitespace",
    "norms": False,
    "index_options": "docs",
    "similarity": "boolean",
}
NUMBER = {"type": "integer", "index": False}
BINARY = {"type": "binary"}
# With doc values, because hits are grouped by it: a hundred of these are read in the time of ten documents.
SIGNATURE_MAPPING = {"type": "binary", "doc_values": True}
LOCATION_MAPPING = {
    "properties": {
        "file": LOOKED_UP,
        "offset": {"type": "long", "index": False, "doc_values": False},
        "length": {"type": "long", "index": False, "doc_values": False},
        "record_type": NOT_SEARCHABLE,
        "status": {"type": "short", "index": False, "doc_values": False},
        "mime": NOT_SEARCHABLE,
    }
}

# The tables of an embedded store. The columns of FACTS never change; the others are sealed one by one.
FACTS, TEXTS, FINGERPRINTS, SKETCHES = "page", "page_text", "page_fingerprints", "page_sketches"
ELSEWHERE = ""  # none of these: the value has columns of its own

Convert = Callable[[Any], Any]


class Codec(NamedTuple):
    """Two functions: one writes a value in a layout, the other reads it back."""

    encode: Convert
    decode: Convert


@dataclass(frozen=True, slots=True)
class StoredKind:
    """The forms that values of one kind have in each layout. Without a codec, they are stored as they are."""

    type: type  # of the values in Python
    arrow: Literal["text", "count", "time", "hashes", "positions", "binary", "location"]
    mapping: Mapping[str, Any]  # of OpenSearch
    column: str  # the type of a column of SQLite
    json: Codec | None = None
    document: Codec | None = None  # of OpenSearch
    sqlite: Codec | None = None


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode()


def _from_base64(text: str) -> bytes:
    return b64decode(text, validate=True)


def packed_digest(digest: str) -> bytes | str:
    """Return the bytes of hexadecimal digits, or the text if it has other characters."""
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        return digest
    return raw if raw.hex() == digest else digest


def unpacked_digest(digest: bytes | str) -> str:
    return digest if isinstance(digest, str) else digest.hex()


_BASE64 = Codec(_base64, _from_base64)
_PACKED = Codec(packed_digest, unpacked_digest)

TEXT = StoredKind(str, "text", KEYWORD, "TEXT")
DIGEST = StoredKind(str, "text", NOT_SEARCHABLE, "BLOB", sqlite=_PACKED)
COUNT = StoredKind(int, "count", NUMBER, "INTEGER")
TIME = StoredKind(
    datetime,
    "time",
    {"type": "date"},
    "INTEGER",
    json=Codec(written_time, datetime.fromisoformat),
    document=Codec(microseconds, time_at),
    sqlite=Codec(microseconds, time_at),
)
# 'Q', 64-bit hashes.
HASHES = StoredKind(
    array,
    "hashes",
    TOKENS_MAPPING,
    "BLOB",
    json=Codec(hex_tokens, unpacked_hex_tokens),
    document=Codec(packed_tokens, unpacked_tokens),
    sqlite=Codec(lambda hashes: ordered_bytes(hashes, "little"), lambda raw: numbers_from(raw, "Q", "little")),
)
# 'I', rising offsets in the canonical text.
POSITIONS = StoredKind(
    array,
    "positions",
    BINARY,
    "BLOB",
    json=Codec(
        lambda positions: _base64(ordered_bytes(positions, "little")),
        lambda text: numbers_from(_from_base64(text), "I", "little"),
    ),
    document=Codec(packed_positions, unpacked_positions),
    sqlite=Codec(pack_positions, unpack_positions),
)
SIGNATURE = StoredKind(bytes, "binary", SIGNATURE_MAPPING, "BLOB", json=_BASE64, document=_BASE64)
LOCATION = StoredKind(
    ArchiveLocation,
    "location",
    LOCATION_MAPPING,
    "",
    json=Codec(ArchiveLocation._asdict, ArchiveLocation.of),
    document=Codec(
        lambda location: {name: value for name, value in location._asdict().items() if value is not None},
        ArchiveLocation.of,
    ),
)

STORED, NESTED = "stored", "nested"  # the keys in the metadata of a dataclass field


@dataclass(frozen=True, slots=True)
class _Declared:
    """The declaration of a field in its class."""

    kind: StoredKind
    mapping: Mapping[str, Any]
    table: str
    of_text: bool
    counted: str


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of a record, for use in every layout."""

    name: str
    kind: StoredKind
    get: Convert  # the value, of a record
    mapping: Mapping[str, Any]  # of OpenSearch
    table: str = FACTS  # of an embedded store
    optional: bool = False  # the value may be None, and a stored record may lack it
    of_text: bool = False  # a revisit takes it from the page that it repeats
    derived: bool = False  # computed from other fields, and so not read back


def stored(
    kind: StoredKind,
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    mapping: Mapping[str, Any] | None = None,
    table: str = FACTS,
    of_text: bool = False,
    counted: str = "",
) -> Any:
    """Declare a field of a record.

    `mapping` is the mapping of OpenSearch, by default that of the kind. `table` is the table of an embedded store. A
    revisit takes fields `of_text` from the page that it repeats. The property `counted` is stored after the field.
    """
    declared = _Declared(kind, kind.mapping if mapping is None else mapping, table, of_text, counted)
    return field(default=default, default_factory=default_factory, metadata={STORED: declared})


def nested(cls: Any) -> Any:
    """Declare a part of a record that has fields of its own. All of them depend on the text."""
    return field(metadata={NESTED: cls})


@dataclass_transform(kw_only_default=True, field_specifiers=(stored, nested, field))
def has_stored_fields(cls: Any = None, /, *, frozen: bool = False) -> Any:
    """Make a class a dataclass whose fields are declared with `stored` and `nested`."""
    decorate = dataclass(frozen=frozen, slots=True, kw_only=True)
    return decorate if cls is None else decorate(cls)


def fields_of(cls: Any, within: str = "") -> Iterator[StoredField]:
    """Yield the fields that a class declares, in order, including the fields of nested classes."""
    for each in fields(cls):
        if (inside := each.metadata.get(NESTED)) is not None:
            yield from fields_of(inside, f"{each.name}.")
        elif (own := each.metadata.get(STORED)) is not None:
            get, optional = attrgetter(within + each.name), each.default is None
            of_text = own.of_text or bool(within)
            yield StoredField(each.name, own.kind, get, own.mapping, own.table, optional, of_text)
            if own.counted:
                get = attrgetter(within + own.counted)
                yield StoredField(own.counted, COUNT, get, NUMBER, of_text=of_text, derived=True)


def text_attributes_of(cls: Any) -> tuple[str, ...]:
    """Return the attributes of a record that a revisit takes from the page that it repeats."""
    return tuple(
        each.name
        for each in fields(cls)
        if NESTED in each.metadata or (STORED in each.metadata and each.metadata[STORED].of_text)
    )
