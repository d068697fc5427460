"""Sends requests with winnow's fields. Only documents that the engine rejects because of them are sent again.

Since the index was looked up, another one may have replaced it: by a rollover, another alias, or because it was
deleted and created again. If its mapping lacks winnow's fields, the engine rejects each document that has them
(`GUARD`), and does nothing with it. So it is safe to send it again: with the fields of the new index if that is
attached too, and as the client wrote it otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec

from opensearch_winnow.gateway.attached import AttachedIndex, Found, find_all
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.missing_fields import MissingFields
from opensearch_winnow.gateway.threads import for_documents
from opensearch_winnow.gateway.writing.bulk_answer import FORBIDDEN, BulkAnswer, ItemOutcome
from opensearch_winnow.gateway.writing.bulk_body import BulkItem, bulk_body
from opensearch_winnow.gateway.writing.writes import DocumentKey, Prepared, Rejected
from opensearch_winnow.ingest.own_index.document_update import DocumentUpdate
from opensearch_winnow.ingest.own_index.json_document import DocumentError

# One rollover may follow another while a request is on its way. A repeat has fields only if the index is another one.
MAX_REPEATS_WITH_FIELDS = 3
TOO_LARGE = "with fields, the request is larger than the engine accepts"
REFUSED = "the engine refused them at first"


class Line(NamedTuple):
    """The functions that connect one request to the engine and to the look-ups of indices."""

    send: Callable[[str, bytes | None], Awaitable[EngineAnswer]]  # a body to a path; None: the client's body
    send_as_it_came: Callable[[], Awaitable[EngineAnswer]]  # the request of the client
    came_bytes: int  # of its body
    find: Callable[[str], Awaitable[Found]]
    forget: Callable[[Collection[str]], None]


class Answered(NamedTuple):
    """The answer for the client, and the outcome of its documents."""

    answer: EngineAnswer
    prepared: Prepared  # the request as it was sent last
    with_fields: int
    missing: MissingFields
    as_it_came: bool = False  # True if it answers the client's own request, not one that the gateway has made


# --- one document -----------------------------------------------------------------------------------------------------


async def send_document(prepared: Prepared, prepare_again: Callable[[], Awaitable[Prepared]], line: Line) -> Answered:
    """Send a document with fields.

    Clients without permission to write it get the answer to their own request, which shows none of winnow's fields.
    """
    assert prepared.body is not None
    answer, as_it_came, repeats = await line.send(prepared.path, prepared.body), False, 0
    while answer.status == HTTPStatus.BAD_REQUEST and not as_it_came:
        (before,) = prepared.attached.values()
        line.forget([before.name])
        prepared, repeats = await prepare_again(), repeats + 1
        is_another = prepared.attached not in ({}, {0: before})
        if is_another and prepared.body is not None and repeats <= MAX_REPEATS_WITH_FIELDS:
            answer = await line.send(prepared.path, prepared.body)
            continue
        if prepared.attached:
            prepared = prepared.without_fields(_rejection(_error_type(answer)))
        answer, as_it_came = await line.send_as_it_came(), True
    if not as_it_came and _is_too_large(answer, prepared, line):
        prepared, answer, as_it_came = prepared.without_fields(TOO_LARGE), await line.send_as_it_came(), True
    if not as_it_came and answer.status in FORBIDDEN:
        prepared, answer, as_it_came = prepared.without_fields(REFUSED), await line.send_as_it_came(), True
    if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
        return Answered(answer, prepared, 0, MissingFields(), as_it_came)
    written = {0: _index_of(answer)}
    return Answered(answer, prepared, *await _counted(prepared, written, line), as_it_came)


def _index_of(answer: EngineAnswer) -> str:
    """Return the index that a document was written to; empty if the answer does not name it."""
    try:
        content = answer.json()
    except msgspec.DecodeError:
        return ""
    return str(content.get("_index", "")) if isinstance(content, Mapping) else ""


def _error_type(answer: EngineAnswer) -> str:
    try:
        return str(answer.json()["error"]["type"])
    except (msgspec.DecodeError, TypeError, KeyError):
        return ""


# --- many documents ---------------------------------------------------------------------------------------------------


async def send_bulk(
    prepared: Prepared,
    prepare_again: Callable[[Sequence[BulkItem], Mapping[int, Rejected]], Awaitable[Prepared]],
    line: Line,
) -> Answered:
    """Send a bulk request with documents of attached indices, and read the outcome of each."""
    answer = await line.send(prepared.path, prepared.body)
    if _is_too_large(answer, prepared, line):
        return await send_bulk(prepared.without_fields(TOO_LARGE), prepare_again, line)
    if answer.status != HTTPStatus.OK:
        return Answered(answer, prepared, 0, MissingFields())
    size = prepared.size
    whole = await for_documents(size, _read_bulk, answer, len(prepared.items))
    if whole is None:  # the outcome of the documents is unknown
        prepared.unread = True
        return Answered(answer, prepared, 0, MissingFields())
    sent, numbers = prepared, list(range(len(prepared.items)))  # of the operations sent last, in the client's request
    for is_last in (*[False] * MAX_REPEATS_WITH_FIELDS, True):
        positions, before, names = await for_documents(size, _to_repeat, sent, whole, numbers, is_last)
        if not positions:
            break
        line.forget(names)
        sent = await prepare_again([sent.items[position] for position in positions], before)
        numbers = [numbers[position] for position in positions]
        repeated = await _repeated(sent, [whole.outcomes[number].index for number in numbers], line)
        await for_documents(size, _put_back, prepared, whole, sent, repeated, numbers)
    content, written = await for_documents(size, _content, prepared, whole)
    return Answered(answer._replace(body=content), prepared, *await _counted(prepared, written, line))


def _to_repeat(
    sent: Prepared, whole: BulkAnswer, numbers: Sequence[int], is_last: bool
) -> tuple[list[int], dict[int, Rejected], set[str]]:
    """Return the positions of the operations to send again, the rejected ones, and the names of their indices.

    `numbers` are the numbers of the operations sent last, in the client's request.
    """
    outcomes = [whole.outcomes[number] for number in numbers]
    positions = positions_to_repeat(sent.items, sent.documents, outcomes, sent.attached)
    if not positions:
        return [], {}, set()
    rejected = {position for position in sent.attached if outcomes[position].status == HTTPStatus.BAD_REQUEST}
    before = {
        again: Rejected(
            None if is_last else sent.attached[position],
            _rejection(outcomes[position].error_type) if position in rejected else "",
        )
        for again, position in enumerate(positions)
        if is_last or position in rejected
    }
    return positions, before, {sent.attached[position].name for position in rejected}


def _put_back(
    prepared: Prepared, whole: BulkAnswer, sent: Prepared, repeated: BulkAnswer, numbers: Sequence[int]
) -> None:
    """Note the outcomes of operations that were sent again, which have these `numbers` in the client's request."""
    whole.replace(numbers, repeated)
    for position, number in enumerate(numbers):
        _move(sent.attached, position, prepared.attached, number)
        _move(sent.missing, position, prepared.missing, number)
    prepared.notes |= sent.notes
    prepared.problem = prepared.problem or sent.problem


def _content(prepared: Prepared, whole: BulkAnswer) -> tuple[bytes, dict[int, str]]:
    """Return the answer for the client, and the indices that documents were written to, by their number."""
    # Only clients that may write to an index learn that it is attached.
    whole.withhold([id_ for number, id_ in prepared.given_ids.items() if whole.outcomes[number].is_forbidden])
    written = {number: each.index for number, each in enumerate(whole.outcomes) if each.was_executed}
    return whole.content(), written


def _move(source: Mapping[int, Any], position: int, to: dict[int, Any], number: int) -> None:
    to.pop(number, None)
    if position in source:
        to[number] = source[position]


def positions_to_repeat(
    items: Sequence[BulkItem],
    documents: Mapping[int, DocumentKey],
    outcomes: Sequence[ItemOutcome],
    filled: Collection[int],
) -> list[int]:
    """Return the positions of the operations to send again.

    These are operations that were `filled` with fields and rejected. Operations on one document are executed in their
    order. So of the operations that follow a rejected one on the same document, these are sent again after it:

    - an operation that did not find the document, because the rejected one would have created it;
    - after `index`, every operation: it replaces the document, and so undoes those that were executed;
    - after `update`, every executed operation, except scripts: the same values are written in the right order, but a
      script that counts would count twice;
    - after `create`, a `delete` that was executed. Without one, the document exists, and `create` fails again.

    All operations after a `delete` or `index` that is sent again are sent again, too.

    If the index has accepted the fields of another document, it has their mapping, and the rejected document has a
    fault of its own. Then no executed operation is sent again because of it.
    """
    if all(outcomes[position].status != HTTPStatus.BAD_REQUEST for position in filled):
        return []
    last_executed = {documents.get(position): position for position, each in enumerate(outcomes) if each.was_executed}
    accepting = {documents[position][0] for position in filled if outcomes[position].was_executed}
    created: set[DocumentKey] = set()
    updated: set[DocumentKey] = set()
    replaced: set[DocumentKey] = set()
    positions = []
    for position, (item, outcome) in enumerate(zip(items, outcomes, strict=True)):
        document = documents.get(position)
        if document is None:
            continue
        is_touched = document in created or document in updated or document in replaced
        if position in filled and outcome.status == HTTPStatus.BAD_REQUEST:
            is_repeated = document[0] not in accepting or last_executed.get(document, -1) < position
        elif outcome.was_executed:
            is_repeated = (
                document in replaced
                or (document in updated and not _is_scripted(item))
                or (document in created and item.kind == "delete")
            )
        else:
            is_repeated = is_touched and outcome.status == HTTPStatus.NOT_FOUND
        if is_repeated:
            positions.append(position)
            kinds = updated if item.kind == "update" else created if item.creates else replaced
            kinds.add(document)
    return positions


def _is_scripted(item: BulkItem) -> bool:
    try:
        return item.kind == "update" and item.source is not None and DocumentUpdate(item.source).is_scripted
    except DocumentError:
        return False


async def _repeated(prepared: Prepared, indices: Sequence[str], line: Line) -> BulkAnswer:
    """Send operations on these `indices` once more.

    If the request fails as a whole, each of them fails: other operations of the client were already executed.
    """
    try:
        body = prepared.body
        if body is None:
            body = await for_documents(prepared.size, bulk_body, prepared.items)
        answer = await line.send(prepared.path, body)
        found = None
        if answer.status == HTTPStatus.OK:
            found = await for_documents(prepared.size, _read_bulk, answer, len(prepared.items))
        error = {"type": _error_type(answer) or "exception", "reason": "the operation was repeated, and failed"}
        status = answer.status if answer.status >= HTTPStatus.BAD_REQUEST else HTTPStatus.BAD_GATEWAY
    except GatewayError as failure:
        found, status, error = None, failure.status, {"type": failure.kind, "reason": str(failure)}
    if found is not None:
        return found
    operations = [
        {item.kind: {"_index": index, "_id": item.id}} for item, index in zip(prepared.items, indices, strict=True)
    ]
    return BulkAnswer.of_failure(operations, status, error)


def _read_bulk(answer: EngineAnswer, items: int) -> BulkAnswer | None:
    """Return the answer to a bulk request with this number of operations; None if it is something else."""
    try:
        found = BulkAnswer(answer.body)
    except msgspec.DecodeError:
        return None
    return found if len(found.outcomes) == items else None


# --- both -------------------------------------------------------------------------------------------------------------


def _is_too_large(answer: EngineAnswer, prepared: Prepared, line: Line) -> bool:
    """Return whether the engine refuses a request that is larger than the client's."""
    size = len(prepared.body or b"")
    return answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and size > line.came_bytes


def _rejection(error_type: str) -> str:
    return f"the engine rejects them with fields{f' ({error_type})' if error_type else ''}"


async def _counted(prepared: Prepared, written: Mapping[int, str], line: Line) -> tuple[int, MissingFields]:
    """Return the number of documents that got fields, and the reasons why others did not.

    `written` are the indices that the documents were written to, by their number. If one is not the index that was
    looked up, and nothing was rejected, its mapping has winnow's fields too, or ignores unknown fields.
    """
    missing, filled, moved = await for_documents(prepared.size, _sorted, prepared, written)
    if not moved:
        return len(filled), missing
    names = {each.name for each in moved.values()}
    line.forget(names)
    now = await find_all(names, line.find)
    for number, attached in moved.items():
        found = now[attached.name]
        if not isinstance(found, AttachedIndex) or found.missing or found.written != written[number]:
            missing.add(attached.name, f"they were written to {written[number]}, which lacks winnow's fields")
            del filled[number]
    return len(filled), missing


def _sorted(
    prepared: Prepared, written: Mapping[int, str]
) -> tuple[MissingFields, dict[int, AttachedIndex], dict[int, AttachedIndex]]:
    """Return the reasons for missing fields, the documents with fields, and those of them in an unexpected index."""
    filled = {number: each for number, each in prepared.attached.items() if number in written}
    moved = {number: each for number, each in filled.items() if written[number] not in ("", each.written)}
    return prepared.missing_fields(written.__contains__), filled, moved
