"""Prepares requests that write documents: finds those of attached indices, and gives them winnow's fields."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from opensearch_winnow.gateway.attached import AttachedIndex, Found, Unusable
from opensearch_winnow.gateway.bulk_body import BulkItem, bulk_body, bulk_items
from opensearch_winnow.gateway.document_ids import new_id
from opensearch_winnow.gateway.document_writes import DocumentWrite, WrittenDocument, stored_documents, written_document
from opensearch_winnow.gateway.engine_answer import Send
from opensearch_winnow.gateway.routes import Write
from opensearch_winnow.ingest.bulk_action import MalformedBulkError

EXTERNAL_VERSIONS = ("external", "external_gt", "external_gte")

Find = Callable[[str], Any]  # of an index, by the name that the client uses; awaitable


@dataclass(slots=True)
class Prepared:
    """A request as it is sent to the engine."""

    path: str
    body: bytes | None = None  # None: as the client has sent it
    warnings: list[str] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)  # for the log only
    with_fields: int = 0
    without_fields: int = 0  # documents of attached indices
    unread: bool = False  # its documents, if there are any, cannot be counted


@dataclass(frozen=True, slots=True)
class _Options:
    """What the query string of a request says about all its documents."""

    query: Mapping[str, str]

    def of(self, item: BulkItem, name: str) -> str | None:
        return item.option(name) or self.query.get(name)


async def prepare(write: Write, path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send) -> Prepared:
    """Return a request with winnow's fields in the documents of attached indices."""
    if write.kind == "bulk":
        return await _prepare_bulk(write, path, query, body, find, send)
    return await _prepare_document(write, path, query, body, find, send)


# --- one document -----------------------------------------------------------------------------------------------------


async def _prepare_document(
    write: Write, path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send
) -> Prepared:
    assert write.name is not None
    assert write.kind != "bulk"
    attached: Found = await find(write.name)
    if not isinstance(attached, AttachedIndex):
        return _unprepared(path, {write.name: attached}, 1)
    if attached.written is None:
        return Prepared(path, without_fields=1)
    kind, id_ = write.kind, write.id
    if id_ is None:
        id_, kind = new_id(), "create"
        path = _with_id(write.name, path, id_)
    elif query.get("op_type") == "create":
        kind = "create"
    each = _document_write(attached, kind, id_, body, query.get, is_repeated=False)
    prepared = Prepared(path)
    (written,) = await _add_fields(prepared, [each], send)
    prepared.body = written.content
    return prepared


def _with_id(index: str, path: str, id_: str) -> str:
    """Return the path of a document that has got an id. It is created, as the engine would do it without one."""
    query = path.partition("?")[2]
    options = [each for each in query.split("&") if each and not each.startswith("op_type=")]
    return f"/{quote(index, safe='')}/_doc/{id_}?{'&'.join((*options, 'op_type=create'))}"


# --- many documents ---------------------------------------------------------------------------------------------------


async def _prepare_bulk(
    write: Write, path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send
) -> Prepared:
    try:
        items = await asyncio.to_thread(bulk_items, body)
    except MalformedBulkError:
        return Prepared(path)
    names = {name for item in items if (name := item.index or write.name) is not None}
    found: dict[str, Found] = dict(zip(names, await asyncio.gather(*map(find, names)), strict=True))
    if not any(isinstance(each, AttachedIndex) and each.written for each in found.values()):
        return _unprepared(path, found, _written_to(items, write.name, found))
    options = _Options(query)
    seen: Counter[tuple[str | None, str, str | None]] = Counter()
    numbers, writes = [], []
    for number, item in enumerate(items):
        attached = found.get(item.index or write.name or "")
        if not isinstance(attached, AttachedIndex) or attached.written is None:
            continue
        if item.id is None and item.kind in ("index", "create"):
            item = items[number] = item.with_id(new_id())
            kind: Literal["index", "create", "update"] = "create"  # as far as versions are concerned
        elif item.id is None:
            continue  # the engine says that it needs one
        else:
            kind = "create" if "create" in (item.kind, item.option("op_type")) else "index"
        assert item.id is not None
        key = (attached.written, item.id, options.of(item, "routing"))
        seen[key] += 1
        if item.source is not None:
            if item.kind == "update":
                kind = "update"
            each = _document_write(attached, kind, item.id, item.source, partial(options.of, item), seen[key] > 1)
            numbers.append(number)
            writes.append(each)
    prepared = _unprepared(path, found, _written_to(items, write.name, found))
    documents = await _add_fields(prepared, writes, send)
    for number, document in zip(numbers, documents, strict=True):
        items[number] = items[number].with_source(document.content)
    prepared.body = bulk_body(items)
    return prepared


def _written_to(items: Sequence[BulkItem], name: str | None, found: Mapping[str, Found]) -> int:
    """Return the number of documents that are written to indices whose documents get no fields, but should."""
    return sum(item.source is not None and isinstance(found.get(item.index or name or ""), Unusable) for item in items)


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
    is_external = option("version_type") in EXTERNAL_VERSIONS and version is not None and version.isdecimal()
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


async def _add_fields(prepared: Prepared, writes: Sequence[DocumentWrite], send: Send) -> list[WrittenDocument]:
    """Return the documents with their fields, and note in `prepared` how many have some and why others have none."""
    stored, problem = await stored_documents(writes, send)
    # In a thread: fingerprints take time, and other requests must not wait for them.
    documents = await asyncio.to_thread(lambda: list(map(written_document, writes, stored)))
    prepared.with_fields += sum(each.has_fields for each in documents)
    prepared.without_fields += sum(not each.has_fields for each in documents)
    if problem:
        prepared.notes.add(f"no stamps for documents of {_names(writes)}: {problem}")
    prepared.notes |= {
        f"no fields for a document of {write.attached.name}: {document.problem}"
        for write, document in zip(writes, documents, strict=True)
        if document.problem
    }
    return documents


def _names(writes: Sequence[DocumentWrite]) -> str:
    return ", ".join(sorted({write.attached.name for write in writes}))


def _unprepared(path: str, found: Mapping[str, Found], documents: int = 0) -> Prepared:
    """Return a request whose documents get no fields, and the reasons of those that should."""
    reasons = [
        f"no fields for documents of {name}: {each.reason}"
        for name, each in found.items()
        if isinstance(each, Unusable)
    ]
    return Prepared(path, warnings=sorted(reasons), without_fields=documents if reasons else 0)
