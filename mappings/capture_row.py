"""Makes flat rows from captures, for tables: metadata, digests and the fields of the source, side by side."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry
from opensearch_winnow.mappings.record import VALUE_OF, Record

Row = dict[str, Any]

# The columns of a row, in order.
COLUMNS = (
    "url",
    "fetched_at",
    "title",
    "site",
    "crawl",
    "id",
    "cluster",
    "duplicate",
    "duplicate_of",
    "canonical",
    "fingerprint_count",
    "shingle_count",
    "sketch_count",
    "payload_digest",
    "content_digest",
    "text_digest",
    *ArchiveLocation._fields,
)
TEXT = "text"  # a further column, only of rows of records
NO_SOURCE: Row = dict.fromkeys(ArchiveLocation._fields)


def entry_row(entry: CaptureEntry) -> Row:
    """Return the row of an entry: its COLUMNS, and the other fields of its card."""
    return {
        **entry.card._asdict(),
        "payload_digest": entry.payload_digest,
        "content_digest": entry.content_digest,
        **_source_columns(entry.source),
    }


def record_row(record: Record) -> Row:
    """Return the row of a record: its COLUMNS and its text."""
    own = (name for name in (*COLUMNS, TEXT) if name not in ArchiveLocation._fields)
    return {**{name: VALUE_OF[name](record) for name in own}, **_source_columns(record.source)}


def _source_columns(source: ArchiveLocation | None) -> Row:
    if source is None:
        return NO_SOURCE
    return source._asdict() if source.length else source._asdict() | {"offset": None, "length": None}
