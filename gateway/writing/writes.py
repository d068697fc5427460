"""Prepares requests that write documents: adds winnow's fields to the documents of attached indices."""

from __future__ import annotations

import os
import time
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Literal, NamedTuple
from urllib.parse import quote

from opensearch_winnow.gateway.attached import AttachedIndex, Found, Unusable, find_all
from opensearch_winnow.gateway.engine_answer import Send
from opensearch_winnow.gateway.limits import DOCUMENTS_PER_STEP, MAX_NAMES_PER_REQUEST, MEMORY_PER_DOCUMENT
from opensearch_winnow.gateway.missing_fields import MissingFields
from opensearch_winnow.gateway.routes import Write
from opensearch_winnow.gateway.searching.client_search import is_long
from opensearch_winnow.gateway.threads import for_documents
from opensearch_winnow.gateway.writing.bulk_body import BulkItem, bulk_body, bulk_items, memory_of
from opensearch_winnow.gateway.writing.document_writes import (
    DocumentWrite,
    Stored,
    WrittenDocument,
    stored_documents,
    written_document,
)
from opensearch_winnow.ingest.own_index.bulk_action import MalformedBulkError

EXTERNAL_VERSIONS = ("external", "external_gt", "external_gte")

Find = Callable[[str], Awaitable[Found]]  # of an index to write to, by the name that the client uses
_process = os.urandom(6)  # distinguishes gateways that run beside each other
_numbers = count(int.from_bytes(os.urandom(3), "big"))


class Missing(NamedTuple):
    """The reason why a document of an attached index gets no fields."""

    name: str | None  # of the index, as the client names it; None if it does not matter
    reason: str  # empty if it simply needs none


class Rejected(NamedTuple):
    """A document that the engine has rejected with the fields of an index."""

    attached: AttachedIndex | None  # None: it gets no fields in any case
    reason: str


DocumentKey = tuple[str, str, str | None]  # index, id and routing


@dataclass(slots=True)
class Prepared:
    """A request as it is sent to the engine. Its documents are numbered by their order in the request."""

    path: str
    body: bytes | None = None  # None: as the client has sent it
    size: int = 0  # of the memory that it takes
    items: list[BulkItem] = field(default_factory=list)  # of a bulk request: without fields, but with the ids they got
    given_ids: dict[int, str] = field(default_factory=dict)  # the ids that items got from the gateway
    documents: dict[int, DocumentKey] = field(default_factory=dict)  # that the items write or delete
    attached: dict[int, AttachedIndex] = field(default_factory=dict)  # the indices of the documents that get fields
    missing: dict[int, Missing] = field(default_factory=dict)  # the documents of attached indices that get none
    notes: set[str] = field(default_factory=set)  # for the log only
    unread: bool = False  # its documents, if there are any, cannot be counted
    problem: Missing | None = None  # the reason why none of them gets fields, if it is known

    def missing_fields(self, was_executed: Callable[[int], bool] = lambda _: True) -> MissingFields:
        """Return the documents without fields whose operation `was_executed`, with the reasons."""
        found = MissingFields()
        for number, each in self.missing.items():
            if was_executed(number):
                found.add(*each)
        if self.problem is not None:
            found.add(*self.problem, documents=0)
        return found

    def without_fields(self, reason: str) -> Prepared:
        """Return the request as the client has sent it: none of its documents gets fields."""
        missing = {number: Missing(each.name, reason) for number, each in self.attached.items()}
        missing |= {number: Missing(each.name, reason) for number, each in self.missing.items()}
        return replace(self, body=None, attached={}, missing=missing)


@dataclass(frozen=True, slots=True)
class _Options:
    """The options in the query string of a request, which apply to all its documents."""

    query: Mapping[str, str]

    def of(self, item: BulkItem, name: str) -> str | None:
        return item.option(name) or self.query.get(name)


async def prepare(write: Write, path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send) -> Prepared:
    """Return a request with winnow's fields in the documents of attached indices."""
    if write.kind == "bulk":
        try:
            size = len(body) + MEMORY_PER_DOCUMENT * (body.count(b"\n") // 2)
            items = await for_documents(size, bulk_items, body)
        except MalformedBulkError:
            return Prepared(path)
        return await prepare_bulk(items, write.name, path, query, find, send)
    return await _prepare_document(write, path, query, body, find, send)


# --- one document -----------------------------------------------------------------------------------------------------


async def _prepare_document(
    write: Write, path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send
) -> Prepared:
    assert write.name is not None
    assert write.kind != "bulk"
    attached = await find(write.name)
    if not isinstance(attached, AttachedIndex):
        missing = {0: Missing(write.name, attached.reason)} if isinstance(attached, Unusable) else {}
        return Prepared(path, missing=missing)
    kind, id_ = write.kind, write.id
    if id_ is None:
        id_, kind = new_id(), "create"
        path = _with_id(write.name, path, id_)
    elif query.get("op_type") == "create":
        kind = "create"
    each = _document_write(attached, kind, id_, body, query.get, is_repeated=False)
    prepared = Prepared(path, size=len(body))
    (written,) = await _add_fields(prepared, {0: each}, send)
    prepared.body = written.content
    return prepared


def _with_id(index: str, path: str, id_: str) -> str:
    """Return the path of a document with its new id. It creates the document, as the engine does without an id."""
    query = path.partition("?")[2]
    options = [each for each in query.split("&") if each and not each.startswith("op_type=")]
    return f"/{quote(index, safe='')}/_doc/{id_}?{'&'.join((*options, 'op_type=create'))}"


# --- many documents ---------------------------------------------------------------------------------------------------


async def prepare_bulk(
    items: Sequence[BulkItem],
    default: str | None,
    path: str,
    query: Mapping[str, str],
    find: Find,
    send: Send,
    rejected: Mapping[int, Rejected] = MappingProxyType({}),
) -> Prepared:
    """Return a bulk request with winnow's fields; `default` is the index of operations that name none.

    Operations that were `rejected` before, by their number, get fields only if their index has changed since.
    """
    size = memory_of(items)
    names = await for_documents(size, _names, items, default)
    if len(names) > MAX_NAMES_PER_REQUEST:
        reason = f"the request names more than {MAX_NAMES_PER_REQUEST:,} indices"
        return Prepared(path, size=size, items=list(items), unread=True, problem=Missing(None, reason))
    found = await find_all(names, find)
    prepared = Prepared(path, size=size, items=list(items))
    writes = await for_documents(size, _document_writes, prepared, items, default, _Options(query), found, rejected)
    if writes:
        documents = await _add_fields(prepared, writes, send)
        prepared.body = await for_documents(size, _body_with_fields, prepared.items, writes, documents)
    return prepared


def _names(items: Sequence[BulkItem], default: str | None) -> set[str]:
    return {name for item in items if (name := item.index or default) is not None}


def _document_writes(
    prepared: Prepared,
    items: Sequence[BulkItem],
    default: str | None,
    options: _Options,
    found: Mapping[str, Found],
    rejected: Mapping[int, Rejected],
) -> dict[int, DocumentWrite]:
    """Return the documents that are to get fields, by their number, and note the others in `prepared`."""
    seen: Counter[DocumentKey] = Counter()
    writes: dict[int, DocumentWrite] = {}
    for number, item in enumerate(items):
        attached = found.get(item.index or default or "")
        if isinstance(attached, Unusable) and item.source is not None:
            prepared.missing[number] = Missing(item.index or default, attached.reason)
        if not isinstance(attached, AttachedIndex):
            continue
        if item.id is None and item.kind in ("index", "create"):
            id_ = prepared.given_ids[number] = new_id()
            item = prepared.items[number] = item.with_id(id_)
            kind: Literal["index", "create", "update"] = "create"  # as far as versions are concerned
        elif item.id is None:
            continue  # the engine refuses it
        else:
            kind = "create" if item.creates else "index"
        assert item.id is not None
        key = prepared.documents[number] = (attached.written or "", item.id, options.of(item, "routing"))
        seen[key] += 1
        if item.source is None:
            continue
        if number in rejected and rejected[number].attached in (None, attached):
            prepared.missing[number] = Missing(attached.name, rejected[number].reason)
            continue
        if item.kind == "update":
            kind = "update"
        option = partial(options.of, item)
        writes[number] = _document_write(attached, kind, item.id, item.source, option, seen[key] > 1)
    return writes


def _body_with_fields(
    items: Sequence[BulkItem], writes: Mapping[int, DocumentWrite], documents: Sequence[WrittenDocument]
) -> bytes:
    filled = list(items)
    for number, document in zip(writes, documents, strict=True):
        filled[number] = filled[number].with_source(document.content)
    return bulk_body(filled)


# --- both -------------------------------------------------------------------------------------------------------------


def _document_write(
    attached: AttachedIndex,
    kind: Literal["index", "create", "update"],
    id_: str,
    content: bytes,
    option: Callable[[str], str | None],
    is_repeated: bool,
) -> DocumentWrite:
    version = option("version")
    is_external = kind == "index" and option("version_type") in EXTERNAL_VERSIONS and is_long(version or "")
    return DocumentWrite(
        attached,
        kind,
        id_,
        content,
        routing=option("routing"),
        version=int(version or 0) if is_external else None,
        runs_pipeline=attached.runs_pipeline(option("pipeline")),
        is_repeated=is_repeated,
    )


async def _add_fields(prepared: Prepared, writes: Mapping[int, DocumentWrite], send: Send) -> list[WrittenDocument]:
    """Return documents, by their number, with their fields, and note in `prepared` which have some."""
    every = list(writes.items())
    stored, problem = await stored_documents(list(writes.values()), prepared.size, send)
    documents: list[WrittenDocument] = []
    for start in range(0, len(every), DOCUMENTS_PER_STEP):
        some = slice(start, start + DOCUMENTS_PER_STEP)
        # In a thread: fingerprints take time, and other requests must not wait for them.
        documents += await for_documents(prepared.size, _filled, prepared, every[some], stored[some])
    if problem:
        names = sorted({write.attached.name for write in writes.values()})
        prepared.notes.add(f"no stamps for documents of {', '.join(names)}: {problem}")
    return documents


def _filled(
    prepared: Prepared, writes: Sequence[tuple[int, DocumentWrite]], stored: Sequence[Stored]
) -> list[WrittenDocument]:
    documents = []
    for (number, write), each in zip(writes, stored, strict=True):
        document = written_document(write, each)
        if document.has_fields:
            prepared.attached[number] = write.attached
        else:
            prepared.missing[number] = Missing(write.attached.name, document.problem)
        documents.append(document)
    return documents


def new_id() -> str:
    """Return an id of 20 characters. Ids begin with the time: engines find and compress neighbouring ones faster."""
    milliseconds = time.time_ns() // 1_000_000
    number = next(_numbers) % (1 << 24)
    return urlsafe_b64encode(milliseconds.to_bytes(6, "big") + number.to_bytes(3, "big") + _process).decode()
