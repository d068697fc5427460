"""Converts a record to the `_source` of its OpenSearch document, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from opensearch_winnow.foundation.written_time import microseconds, time_at, written_time
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.record import (
    HASH_FIELDS,
    NO_HASHES,
    RECORD_FIELDS,
    Hashes,
    Record,
    RecordsError,
    make_record,
)
from opensearch_winnow.mappings.stored_fields import StoredField

# Fields by their key in a document. Times are read from `fetched_us`: the dates of engines have milliseconds only.
FIELD_OF = {"fetched_us" if each.name == "fetched_at" else each.name: each for each in RECORD_FIELDS}
READ_KEYS = tuple(key for key, each in FIELD_OF.items() if not each.derived)
TEXT_KEYS = tuple(key for key, each in FIELD_OF.items() if each.of_text)
# The fields of a document that make a card, and the fields that make an entry.
CARD_FIELDS = tuple("fetched_us" if name == "fetched_at" else name for name in Card._fields if name != "id")
CARD_TIME = CARD_FIELDS.index("fetched_us")
OPTIONAL_FIELDS = frozenset(key for key in CARD_FIELDS if key in FIELD_OF and FIELD_OF[key].optional)
ENTRY_FIELDS = (*CARD_FIELDS, "payload_digest", "content_digest", "source")


def hash_fields(hashes: Hashes = NO_HASHES) -> dict[str, Any]:
    """Return the fields of a document for its `hashes`; by default, for a document without text."""
    return {each.name: _encoded(each, hashes) for each in HASH_FIELDS}


def document_fields(record: Record, keys: Iterable[str]) -> dict[str, Any]:
    """Return the fields `keys` of the document of a record."""
    return {key: _encoded(FIELD_OF[key], record) for key in keys}


def document_of(record: Record, *, arrival: int, latest: bool) -> dict[str, Any]:
    """Return the `_source` of the document of a record, without fields that are None. Its `_id` is the record's id.

    `arrival` is a number that rises from first write to first write.
    """
    document = {
        **document_fields(record, FIELD_OF),
        **time_fields(record.fetched_at),
        "repeats": _repeats(record) if record.duplicate == "revisit" else None,
        "url_length": len(record.url),
        "latest": latest,
        "arrival": arrival,
    }
    del document["id"]
    return {name: value for name, value in document.items() if value is not None}


def _encoded(field: StoredField, owner: Record | Hashes) -> Any:
    value, codec = field.get(owner), field.kind.document
    return value if value is None or codec is None else codec.encode(value)


def _decoded(key: str, document: Mapping[str, Any]) -> Any:
    field = FIELD_OF[key]
    value = document.get(key) if field.optional else document[key]
    return value if value is None or field.kind.document is None else field.kind.document.decode(value)


def _repeats(revisit: Record) -> list[str]:
    """Return the digest and the URL by which `revisit` is found when the page that it repeats arrives."""
    return [*filter(None, [revisit.payload_digest]), revisit.duplicate_of or revisit.url]


def time_fields(time: datetime | None) -> dict[str, Any]:
    """Return the two fields of a time: the date `fetched_at`, which engines keep in milliseconds, and the number of
    microseconds `fetched_us`."""
    if time is None:
        return {"fetched_at": None, "fetched_us": None}
    since = microseconds(time)
    return {"fetched_at": written_time(time_at(since)), "fetched_us": since}


def record_of(document: Mapping[str, Any]) -> Record:
    """Return the record of a document's `_source`."""
    with _reporting_missing_fields():
        values = {FIELD_OF[key].name: _decoded(key, document) for key in READ_KEYS}
        return make_record(values, attached_id=document.get("id", ""))


def card_of(id_: str, document: Mapping[str, Any]) -> Card:
    """Return the card of a document, from its CARD_FIELDS."""
    with _reporting_missing_fields():
        values = [document.get(key) if key in OPTIONAL_FIELDS else document[key] for key in CARD_FIELDS]
        values[CARD_TIME] = time_of(values[CARD_TIME])
        return Card._make((id_, *values))


def any_card_of(id_: str, document: Mapping[str, Any]) -> Card:
    """Return the card of any document, even of another program: missing fields are empty."""
    known = {key: document[key] for key in CARD_FIELDS if document.get(key) is not None}
    return card_of(id_, _EMPTY_CARD | known)


_EMPTY_CARD = {
    **dict.fromkeys(("url", "site", "crawl", "text_digest", "cluster"), ""),
    **dict.fromkeys(("fingerprint_count", "shingle_count", "sketch_count"), 0),
    "latest": True,
}


def entry_of(id_: str, document: Mapping[str, Any]) -> CaptureEntry:
    """Return the entry of any document, from its ENTRY_FIELDS."""
    with _reporting_missing_fields():
        source = ArchiveLocation.of(document.get("source"))
    return CaptureEntry(
        any_card_of(id_, document), document.get("payload_digest"), document.get("content_digest") or "", source
    )


def time_of(fetched_us: int | None) -> datetime | None:
    """Return the time in the field `fetched_us`."""
    return None if fetched_us is None else time_at(fetched_us)


@contextmanager
def _reporting_missing_fields() -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise RecordsError(f"not the document of a record: it has no {error.args[0]}") from None
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None
