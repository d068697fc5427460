"""Gives documents winnow's fields on their way to an attached index.

A stamp names the version of a document that its fields were made from. Here it has to be known before the write. It may
be too low, if another client writes at the same time: then it never fits, and readers make the fields again. It must
never be too high, because a later write could make it fit. Where the version is uncertain, the stamp is the id of the
scheme, which never fits, but names the scheme of the hashes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, NamedTuple

from opensearch_winnow.foundation.document_paths import values_at
from opensearch_winnow.gateway.attached import AttachedIndex
from opensearch_winnow.gateway.engine_answer import Send
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.limits import MAX_DOCUMENT_VALUES
from opensearch_winnow.gateway.threads import for_documents
from opensearch_winnow.ingest.own_index.json_document import DocumentError, JsonDocument
from opensearch_winnow.mappings.attached_fields import GUARD

DOCUMENTS_PER_REQUEST = 500  # whose versions are read, and for updates also the texts
# Of a document that is replaced. Without its stamp, all other fields are made anew.
FIELDS_TO_KEEP = ("text_digest", "arrival", "cluster")
UNKNOWN_TEXT = {"text_digest": "unknown"}  # which no text has

_arrivals = count(time.time_ns())


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document that is about to be written to an attached index."""

    attached: AttachedIndex
    kind: Literal["index", "create", "update"]
    id: str
    content: bytes  # the document; or the body of an update
    routing: str | None = None
    version: int | None = None  # that the client gives it, with version_type=external
    runs_pipeline: bool = False
    is_repeated: bool = False  # True if an earlier operation of the same request may write the same document


class WrittenDocument(NamedTuple):
    """A document as it is sent to the engine."""

    content: bytes
    has_fields: bool
    problem: str = ""  # why it has no fields; empty if it simply needs none


Stored = Mapping[str, Any] | None  # a document as `_mget` returns it; None: unknown


async def stored_documents(writes: Sequence[DocumentWrite], size: int, send: Send) -> tuple[list[Stored], str]:
    """Read the stored documents that the fields of `writes` depend on; also return the reason if that fails.

    `size` is the memory that their request takes.
    """
    found: list[Stored] = [None] * len(writes)
    read = await for_documents(size, _numbers_to_read, writes)
    for start in range(0, len(read), DOCUMENTS_PER_REQUEST):
        batch = read[start : start + DOCUMENTS_PER_REQUEST]
        try:
            answer = await send("POST", "/_mget", {"docs": [_request(writes[number]) for number in batch]})
        except GatewayError as error:
            return found, f"their versions cannot be read: {error}"
        if answer.status != 200:
            return found, f"their versions cannot be read: the engine answers with status {answer.status}"
        decoded = await for_documents(size, answer.json)
        for number, document in zip(batch, decoded["docs"], strict=True):
            found[number] = None if "error" in document else document
    return found, ""


def written_document(write: DocumentWrite, stored: Stored) -> WrittenDocument:
    """Return a document with winnow's fields, or as it is if it gets none. Never raises."""
    if _has_too_many_values(write):
        return WrittenDocument(
            write.content, has_fields=False, problem=f"it has more than {MAX_DOCUMENT_VALUES:,} values"
        )
    try:
        document = JsonDocument(write.content)
    except DocumentError:  # the engine reports the error
        return WrittenDocument(write.content, has_fields=False)
    try:
        fill = _fill_update if write.kind == "update" else _fill
        has_fields = fill(write, document, stored)
        return WrittenDocument(document.content(), has_fields)
    except Exception as error:
        return WrittenDocument(write.content, has_fields=False, problem=str(error) or type(error).__name__)


def _numbers_to_read(writes: Sequence[DocumentWrite]) -> list[int]:
    return [number for number, write in enumerate(writes) if _needs_stored(write)]


def _needs_stored(write: DocumentWrite) -> bool:
    if write.kind != "update":
        return write.kind == "index"
    if _has_too_many_values(write):
        return False
    try:
        body = JsonDocument(write.content)
        doc = JsonDocument(body.raw("doc")) if "doc" in body else None
    except DocumentError:
        return False
    return doc is not None and bool(doc.at(write.attached.fields.made_from)) and not write.is_repeated


def _has_too_many_values(write: DocumentWrite) -> bool:
    return len(write.content) > MAX_DOCUMENT_VALUES and write.content.count(b",") > MAX_DOCUMENT_VALUES


def _request(write: DocumentWrite) -> dict[str, Any]:
    fields = write.attached.fields
    # All of our fields, also where few are needed: engines take much longer for each further path, and document.
    source = [fields.below, *(fields.made_from if write.kind == "update" else ())]
    routing = {} if write.routing is None else {"routing": write.routing}
    return {"_index": write.attached.written, "_id": write.id, "_source": source, **routing}


# --- a whole document -------------------------------------------------------------------------------------------------


def _fill(write: DocumentWrite, document: JsonDocument, stored: Stored) -> bool:
    """Add winnow's fields to a document that is written as a whole; return True."""
    fields, pages = write.attached.fields, write.attached.pages
    document.remove(fields.below)
    arrival = next(_arrivals)
    version = write.version
    kept: Mapping[str, Any]
    if write.kind == "create":
        version, kept = 1, {}
    elif stored is None:  # a cluster of its own is the only one that cannot be wrong
        kept = {fields.below: UNKNOWN_TEXT}
    else:
        version = stored.get("_version", 0) + 1 if version is None else version
        kept = _kept(stored.get("_source", {}), fields.below)
    page = {
        "_index": write.attached.written,
        "_id": write.id,
        "_version": arrival if stored is None else stored.get("_version", 0),
        "_source": document.at(fields.made_from) | kept,
    }
    version = None if _is_uncertain(write) else version
    document.add(pages.change(pages.complete(page, pages.make(page), arrival, version) | GUARD))
    return True


def _is_uncertain(write: DocumentWrite) -> bool:
    """Return whether the text or the version may differ once the document is written."""
    return write.runs_pipeline or write.is_repeated


def _ours(source: Mapping[str, Any], below: str) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key == below or key.startswith(f"{below}.")}


def _kept(source: Mapping[str, Any], below: str) -> dict[str, Any]:
    """Return those of winnow's fields that a replaced document keeps."""
    inside = source.get(below)
    flat = {key: source[key] for name in FIELDS_TO_KEEP if (key := f"{below}.{name}") in source}
    if not isinstance(inside, Mapping):
        return flat
    return flat | {below: {name: inside[name] for name in FIELDS_TO_KEEP if name in inside}}


# --- an update --------------------------------------------------------------------------------------------------------


def _fill_update(write: DocumentWrite, body: JsonDocument, stored: Stored) -> bool:
    """Add winnow's fields to the parts of an update; return whether a part has got fields."""
    has_fields = False
    scripted = "script" in body and bool(body.value("scripted_upsert"))
    if "upsert" in body and not scripted:
        has_fields = _fill_part(write, body, "upsert")
    if "doc" in body and "script" not in body:
        if stored is not None and not stored.get("found") and body.value("doc_as_upsert"):
            return _fill_part(write, body, "doc")
        document = JsonDocument(body.raw("doc"))
        document.remove(write.attached.fields.below)
        if stored is not None and stored.get("found"):
            has_fields |= _fill_change(write, document, stored)
        body.replace("doc", document.content())
    return has_fields


def _fill_part(write: DocumentWrite, body: JsonDocument, part: str) -> bool:
    """Add fields to a part that becomes a new document."""
    document = JsonDocument(body.raw(part))
    created = DocumentWrite(
        write.attached,
        "create",
        write.id,
        b"",
        routing=write.routing,
        runs_pipeline=write.runs_pipeline,
        is_repeated=write.is_repeated,
    )
    has_fields = _fill(created, document, None)
    body.replace(part, document.content())
    return has_fields


def _fill_change(write: DocumentWrite, document: JsonDocument, stored: Mapping[str, Any]) -> bool:
    """Add fields to a partial document, if it changes the fields that they are made from."""
    fields, pages = write.attached.fields, write.attached.pages
    ours = _ours(stored["_source"], fields.below)
    before = {key: value for key, value in stored["_source"].items() if key not in ours}
    after = merged(before, document.at(fields.made_from))
    if all(list(values_at(before, path)) == list(values_at(after, path)) for path in fields.made_from):
        return False
    page = {"_index": write.attached.written, "_id": write.id, "_version": stored["_version"], "_source": after | ours}
    version = None if _is_uncertain(write) else stored["_version"] + 1
    # All fields, also those that stay the same: another update at the same time may have changed them.
    document.add(pages.change(pages.complete(page, pages.make(page), next(_arrivals), version) | GUARD))
    return True


def merged(document: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document after a partial update, as engines do it: objects are merged, all else is replaced."""
    result = dict(document)
    for key, value in change.items():
        there = result.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            value = merged(there, value)
        result[key] = value
    return result
