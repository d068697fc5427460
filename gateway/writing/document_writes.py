"""Gives documents winnow's fields on their way to an attached index.

A stamp names the version of a document that its fields were made from. Here it has to be known before the write. It may
be too low, if another client writes at the same time: then it never fits, and readers make the fields again. It must
never be too high, because a later write could make it fit. Where the version is uncertain, the stamp is the id of the
scheme, which never fits, but names the scheme of the hashes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, NamedTuple

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.gateway.attached import AttachedIndex
from opensearch_winnow.gateway.engine_answer import Send
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.limits import MAX_DOCUMENT_VALUES
from opensearch_winnow.gateway.threads import for_documents
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.document_update import DocumentUpdate
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
    version: int | None = None  # that the client gives to `index`, with version_type=external
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
    for batch in batches(read, DOCUMENTS_PER_REQUEST):
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
        problem = f"it has more than {MAX_DOCUMENT_VALUES:,} values"
        return WrittenDocument(write.content, has_fields=False, problem=problem)
    try:
        body = DocumentUpdate(write.content) if write.kind == "update" else JsonDocument(write.content)
    except DocumentError:  # the engine reports the error
        return WrittenDocument(write.content, has_fields=False)
    try:
        fields, has_fields = write.attached.fields, False
        for part in _parts(write, body, None if stored is None else AttachedDocument.of(stored, fields)):
            part.content.remove(fields.below)
            if part.document is not None:
                part.content.add(_members(write, part.document, part.version))
                has_fields = True
        return WrittenDocument(body.content(), has_fields)
    except Exception as error:
        return WrittenDocument(write.content, has_fields=False, problem=str(error) or type(error).__name__)


def _numbers_to_read(writes: Sequence[DocumentWrite]) -> list[int]:
    return [number for number, write in enumerate(writes) if _needs_stored(write)]


def _needs_stored(write: DocumentWrite) -> bool:
    if write.kind != "update":
        return write.kind == "index"
    if write.is_repeated or _has_too_many_values(write):
        return False
    try:
        return bool(DocumentUpdate(write.content).touched(write.attached.maker.paths))
    except DocumentError:
        return False


def _has_too_many_values(write: DocumentWrite) -> bool:
    return len(write.content) > MAX_DOCUMENT_VALUES and write.content.count(b",") > MAX_DOCUMENT_VALUES


def _request(write: DocumentWrite) -> dict[str, Any]:
    fields = write.attached.fields
    # All of our fields, also where few are needed: engines take much longer for each further path, and document.
    source = [fields.below, *(fields.made_from if write.kind == "update" else ())]
    routing = {} if write.routing is None else {"routing": write.routing}
    return {"_index": write.attached.written, "_id": write.id, "_source": source, **routing}


class _Part(NamedTuple):
    """A document in a request: all of it, or a part of an update."""

    content: JsonDocument
    document: AttachedDocument | None  # after the write, as far as its fields are made from it; None: it gets none
    version: int | None = None  # after the write; None: unknown


def _parts(
    write: DocumentWrite, body: JsonDocument | DocumentUpdate, stored: AttachedDocument | None
) -> Iterator[_Part]:
    """Yield the documents in a request. `stored` is the one in the index, without a version if there is none."""
    paths, id_, index = write.attached.maker.paths, write.id, write.attached.written or ""
    if isinstance(body, JsonDocument):
        source = body.at(paths)
        if write.kind == "create":
            yield _Part(body, AttachedDocument(id_, source, index_name=index), 1)
        elif stored is None:  # a cluster of its own is the only one that cannot be wrong
            yield _Part(body, AttachedDocument(id_, source, UNKNOWN_TEXT, index, next(_arrivals)), write.version)
        else:
            kept = {name: stored.stored[name] for name in FIELDS_TO_KEEP if name in stored.stored}
            version = stored.next_version if write.version is None else write.version
            yield _Part(body, AttachedDocument(id_, source, kept, index, stored.version), version)
        return
    if body.upsert is not None and not body.scripts_upsert:
        yield _Part(body.upsert, AttachedDocument(id_, body.upsert.at(paths), index_name=index), 1)
    if body.doc is None or body.is_scripted:
        return
    if stored is not None and stored.version is not None:
        yield _Part(body.doc, body.applied(stored, paths), stored.next_version)
    elif stored is not None and body.upserts_doc:
        yield _Part(body.doc, AttachedDocument(id_, body.doc.at(paths), index_name=index), 1)
    else:
        yield _Part(body.doc, None)


def _members(write: DocumentWrite, document: AttachedDocument, version: int | None) -> dict[str, Any]:
    """Return all of winnow's fields, also unchanged ones: another update may change them at the same time."""
    is_uncertain = write.runs_pipeline or write.is_repeated  # its text or its version may differ once it is written
    maker = write.attached.maker
    made = maker.stamped(document, arrival=next(_arrivals), version=None if is_uncertain else version)
    return maker.fields.members(made | GUARD)
