"""Converts a record to the `_source` of its OpenSearch document, and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.hash_tokens import packed_positions, packed_tokens, unpacked_positions, unpacked_tokens
from opensearch_winnow.mappings.record import EPOCH, OPTIONAL_TEXTS, TEXTS, Record, RecordsError, microseconds

# The fields of a document that make a card.
CARD_FIELDS = (
    "url",
    "site",
    "crawl",
    "title",
    "fetched_us",
    "latest",
    "text_digest",
    "fingerprint_count",
    "shingle_count",
    "sketch_count",
    "duplicate",
    "duplicate_of",
    "cluster",
    "canonical",
)
ENTRY_FIELDS = (*CARD_FIELDS, "payload_digest", "content_digest", "source")  # the fields that make an entry


def hash_fields(record: Record) -> dict[str, Any]:
    """Return the fields that are computed from the text."""
    return {
        "text_digest": record.text_digest,
        "shingle_digest": record.shingle_digest,
        **fingerprint_fields(record),
        "shingle_count": record.shingle_count,
        "sketch": packed_tokens(record.sketch),
        "sketch_count": record.sketch_count,
        "minhash": b64encode(record.minhash).decode(),
        "bands": packed_tokens(record.bands),
    }


def fingerprint_fields(record: Record) -> dict[str, Any]:
    return {
        "fingerprints": packed_tokens(record.fingerprints),
        "fingerprint_count": record.fingerprint_count,
        "positions": packed_positions(record.positions),
    }


def text_fields(record: Record) -> dict[str, Any]:
    """Return the fields that a revisit takes from the page that it repeats."""
    return {"title": record.title, "text": record.text, "canonical": record.canonical, **hash_fields(record)}


def document_of(record: Record, *, place: int, latest: bool) -> dict[str, Any]:
    """Return the document of a record, its `_source`, without fields that are None. Its `_id` is that of the record.

    `place` is the position of the record among all, in the order of their first writes.
    """
    document = {
        **{name: getattr(record, name) for name in (*TEXTS, *OPTIONAL_TEXTS)},
        **hash_fields(record),
        **time_fields(record.fetched_at),
        "repeats": _repeats(record) if record.duplicate == "revisit" else None,
        "source": None if record.source is None else without_nulls(record.source._asdict()),
        "url_length": len(record.url),
        "latest": latest,
        "place": place,
    }
    return without_nulls(document)


def _repeats(revisit: Record) -> list[str]:
    """Return the keys by which a revisit is found when the page arrives that it repeats: a digest, and a URL."""
    return [*filter(None, [revisit.payload_digest]), revisit.duplicate_of or revisit.url]


def without_nulls(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value is not None}


def time_fields(time: datetime | None) -> dict[str, Any]:
    """Return the two fields of a time: `fetched_at` for people, which engines read in milliseconds, and `fetched_us` in
    microseconds."""
    if time is None:
        return {"fetched_at": None, "fetched_us": None}
    since = microseconds(time)
    return {"fetched_at": written_time(EPOCH + timedelta(microseconds=since)), "fetched_us": since}


def record_of(document: Mapping[str, Any]) -> Record:
    """Return the record of a document's `_source`."""
    try:
        texts: dict[str, Any] = {name: document[name] for name in TEXTS}
        perhaps: dict[str, Any] = {name: document.get(name) for name in OPTIONAL_TEXTS}
        return Record(
            **texts,
            **perhaps,
            fetched_at=time_of(document.get("fetched_us")),
            fingerprints=unpacked_tokens(document["fingerprints"]),
            positions=unpacked_positions(document["positions"]),
            shingle_count=document["shingle_count"],
            sketch=unpacked_tokens(document["sketch"]),
            minhash=b64decode(document["minhash"], validate=True),
            bands=unpacked_tokens(document["bands"]),
            source=ArchiveLocation.of(document.get("source")),
            attached_id=document.get("id", ""),
        )
    except KeyError as error:
        raise RecordsError(f"not the document of a record: it has no {error.args[0]}") from None
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None


def card_of(id_: str, document: Mapping[str, Any]) -> Card:
    """Return the card of a document, from its CARD_FIELDS."""
    try:
        return Card(
            id=id_,
            url=document["url"],
            site=document["site"],
            crawl=document["crawl"],
            title=document.get("title"),
            fetched_at=time_of(document.get("fetched_us")),
            latest=document["latest"],
            text_digest=document["text_digest"],
            fingerprint_count=document["fingerprint_count"],
            shingle_count=document["shingle_count"],
            sketch_count=document["sketch_count"],
            duplicate=document.get("duplicate"),
            duplicate_of=document.get("duplicate_of"),
            cluster=document["cluster"],
            canonical=document.get("canonical"),
        )
    except KeyError as error:
        raise RecordsError(f"not the document of a record: it has no {error.args[0]}") from None
    except (TypeError, OverflowError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None


def any_card_of(id_: str, document: Mapping[str, Any]) -> Card:
    """Return the card of any document, also of other programs: fields that it lacks are empty."""
    empty: dict[str, Any] = {
        **dict.fromkeys(("url", "site", "crawl", "text_digest", "cluster"), ""),
        **dict.fromkeys(("fingerprint_count", "shingle_count", "sketch_count"), 0),
        "latest": True,
    }
    return card_of(id_, empty | {name: document[name] for name in CARD_FIELDS if document.get(name) is not None})


def entry_of(id_: str, document: Mapping[str, Any]) -> CaptureEntry:
    """Return the entry of any document, from its ENTRY_FIELDS."""
    try:
        archived = ArchiveLocation.of(document.get("source"))
    except (TypeError, ValueError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None
    return CaptureEntry(
        any_card_of(id_, document), document.get("payload_digest"), document.get("content_digest") or "", archived
    )


def time_of(fetched_us: int | None) -> datetime | None:
    """Return the time in the field `fetched_us`."""
    return None if fetched_us is None else EPOCH + timedelta(microseconds=fetched_us)
