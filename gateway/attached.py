"""Looks up whether an index is attached, and how its documents get fields."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.key_file import environment_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import (
    NOTICED_SECONDS,
    AttachedFields,
    Attachment,
    attachment_in,
    fields_in,
)
from opensearch_winnow.stores.opensearch.own_index.attached_opening import attachment_of
from opensearch_winnow.stores.opensearch.requests.bulk_errors import engine_error
from opensearch_winnow.stores.opensearch.requests.error_reasons import explain_error

FILTER = "filter_path=*.aliases,*.data_stream,*.mappings._meta,*.mappings.**.format,*.settings,*.mappings.**.guard.type"
MAX_REMEMBERED = 1_000  # look-ups: clients choose the names, and some of the headers that tell them apart
LOOK_UPS_AT_A_TIME = 8  # of one request: each may be a connection to the engine
# Characters of a name. Engines allow 255 bytes; names with a date, such as <logs-{now/d}>, are somewhat longer.
MAX_NAME = 512
NO_PIPELINE = "_none"  # means no pipeline to engines


@dataclass(frozen=True, slots=True)
class AttachedIndex:
    """An attached index, alias or data stream. Two are equal if documents get the same fields from both."""

    name: str  # as the client names it
    fields: AttachedFields
    scheme: Scheme
    maker: FieldsMaker = field(compare=False)
    written: str | None  # the index that receives writes; None if there is none
    uuid: str  # of that index
    time_format: str  # of that index
    default_pipeline: str = NO_PIPELINE  # of that index
    final_pipeline: str = NO_PIPELINE
    missing: Mapping[str, Any] | None = None  # the mapping that the written index needs for winnow's fields

    def runs_pipeline(self, chosen: str | None) -> bool:
        """Return whether an ingest pipeline may change a document that is written; `chosen` is the client's choice."""
        first = self.default_pipeline if chosen is None else chosen
        return first != NO_PIPELINE or self.final_pipeline != NO_PIPELINE


@dataclass(frozen=True, slots=True)
class Unusable:
    """An attached index whose documents can get no fields now, or an index that cannot be looked up, and the reason."""

    reason: str
    failure: EngineAnswer | None = None  # the answer to a request that needs the index; None: the request is refused


Found = AttachedIndex | Unusable | None  # None: it is not attached


@dataclass(slots=True)
class _LookUp:
    """One look-up of a name, and its result."""

    started: float
    found: asyncio.Task[Found]
    writable: asyncio.Task[Found] | None = None  # the result after the written index has got a missing mapping


class AttachedIndices:
    """Looks up indices, and remembers for NOTICED_SECONDS which are attached."""

    def __init__(self) -> None:
        self._remembered: dict[tuple[str, bytes], _LookUp] = {}  # in the order in which they were started
        self._schemes: dict[tuple[str, str | None], Scheme] = {}

    async def find(self, name: str, send: Send, reader: bytes = b"") -> Found:
        """Look up `name`: remembered, or with a request by `send`.

        `reader` identifies the client of `send`: other users may have other permissions.
        """
        return await self._result(name, reader, self._look_up(name, send, reader).found)

    async def find_to_write(self, name: str, send: Send, reader: bytes = b"") -> Found:
        """Look up `name` for a request that writes documents. Documents of an AttachedIndex can get fields.

        A new index behind an alias, or in a data stream, gets the mapping of winnow's fields first. If the engine
        refuses it, the refusal is remembered as long as the look-up.
        """
        if name.startswith("_") or "*" in name or "," in name or len(name) > MAX_NAME:
            return None  # such a name cannot be written to, and the engine reports the error
        look_up = self._look_up(name, send, reader)
        found = await self._result(name, reader, look_up.found)
        if not isinstance(found, AttachedIndex):
            return found
        if found.written is None:
            return Unusable("it has no index to write to")
        if found.missing is None:
            return found
        look_up.writable = look_up.writable or _task(_mapped(found, send))
        return await self._result(name, reader, look_up.writable)

    def forget(self, names: Collection[str] | None = None) -> None:
        """Forget these names, or all: their indices may have changed."""
        self._remembered = {
            key: each for key, each in self._remembered.items() if names is not None and key[0] not in names
        }

    def _look_up(self, name: str, send: Send, reader: bytes) -> _LookUp:
        key, now = (name, reader), time.monotonic()
        known = self._remembered.get(key)
        if known is not None and now - known.started <= NOTICED_SECONDS:
            return known
        self._remembered.pop(key, None)
        while self._remembered:
            oldest = next(iter(self._remembered))
            is_over = now - self._remembered[oldest].started > NOTICED_SECONDS
            if not is_over and len(self._remembered) < MAX_REMEMBERED:
                break
            del self._remembered[oldest]
        self._remembered[key] = _LookUp(now, _task(self._ask(name, send, reader)))
        return self._remembered[key]

    async def _result(self, name: str, reader: bytes, task: asyncio.Task[Found]) -> Found:
        try:
            return await asyncio.shield(task)
        except Exception as error:  # documents pass in any case; if the engine is down, their own request fails
            self._remembered.pop((name, reader), None)
            failure = error.answer() if isinstance(error, GatewayError) else None
            return Unusable(f"{name} cannot be looked up: {error}", failure)

    async def _ask(self, name: str, send: Send, reader: bytes) -> Found:
        answer = await send("GET", f"/{quote(name, safe=',*')}?flat_settings=true&expand_wildcards=all&{FILTER}", None)
        if answer.status == HTTPStatus.NOT_FOUND:
            # Not remembered: a document may create it, from a template that makes it an attached one.
            self._remembered.pop((name, reader), None)
            return None
        if answer.status != HTTPStatus.OK:
            reason = f"{name} cannot be looked up: the engine answers with status {answer.status}"
            return Unusable(reason, answer)
        try:
            return self._read(name, answer)
        except WinnowError as error:
            return Unusable(str(error))

    def _read(self, name: str, answer: EngineAnswer) -> AttachedIndex | None:
        found: dict[str, Any] = {index: {"mappings": {}} | each for index, each in answer.json().items()}
        attachment = attachment_of(found, name, naming_indices=False)
        if attachment is None:
            return None
        scheme = self._scheme(attachment)
        maker = FieldsMaker(attachment.fields, scheme)
        maker.uuids.update((index, each["settings"]["index.uuid"]) for index, each in found.items())
        maker.note_mappings(found)
        written = _written_index(name, found)
        described: Mapping[str, Any] = found[written] if written else {"mappings": {}, "settings": {}}
        mapping, settings = described["mappings"], described["settings"]
        definitions = dict(fields_in(mapping))
        is_there = f"{attachment.fields.below}.guard" in definitions and attachment_in(mapping, name) is not None
        return AttachedIndex(
            name,
            attachment.fields,
            scheme,
            maker,
            written,
            uuid=settings.get("index.uuid", ""),
            time_format=str(definitions.get(attachment.fields.time or "", {}).get("format")),
            default_pipeline=settings.get("index.default_pipeline", NO_PIPELINE),
            final_pipeline=settings.get("index.final_pipeline", NO_PIPELINE),
            missing=None if is_there else attachment.mapping(mapping),
        )

    def _scheme(self, attachment: Attachment) -> Scheme:
        """Return the scheme of an index, with the key of the environment if it has one."""
        kept = (attachment.scheme.id, str(attachment.scheme.choices))
        if kept not in self._schemes:
            written = attachment.scheme
            self._schemes[kept] = written.scheme(environment_key()) if written.keyed else written.scheme_with(None)
        return self._schemes[kept]


class ClientIndices(NamedTuple):
    """Looks up indices for one client."""

    attached: AttachedIndices
    send: Send  # with credentials that may look indices up
    reader: bytes

    async def find(self, name: str) -> Found:
        return await self.attached.find(name, self.send, self.reader)

    async def find_to_write(self, name: str) -> Found:
        return await self.attached.find_to_write(name, self.send, self.reader)

    def forget(self, names: Collection[str]) -> None:
        self.attached.forget(names)


async def find_all(names: Collection[str], find: Callable[[str], Awaitable[Found]]) -> dict[str, Found]:
    """Look up many names, a few at a time.

    If the engine rejects the client's credentials (401), the remaining names are not looked up.
    """
    found: dict[str, Found] = {}
    waiting = iter(names)
    strangers: list[Unusable] = []

    async def ask_in_turn() -> None:
        for name in waiting:
            each = strangers[0] if strangers else await find(name)
            found[name] = each
            if isinstance(each, Unusable) and each.failure and each.failure.status == HTTPStatus.UNAUTHORIZED:
                strangers.append(each)

    await asyncio.gather(*(ask_in_turn() for _ in range(min(LOOK_UPS_AT_A_TIME, len(names)))))
    return found


async def _mapped(attached: AttachedIndex, send: Send) -> Found:
    """Give the written index the mapping of winnow's fields, as `winnow attach` does."""
    assert attached.written is not None
    answer = await send("PUT", f"/{quote(attached.written, safe='')}/_mapping", dict(attached.missing or {}))
    if answer.status == HTTPStatus.OK:
        return replace(attached, missing=None)
    reason = explain_error(engine_error(answer.body.decode(errors="replace")), answer.status)
    return Unusable(
        "the engine refuses winnow's fields (mend this, then run `winnow attach --update`):"
        f" {reason.replace(attached.written, attached.name)}"  # the index behind the name is not revealed
    )


def _task(work: Coroutine[Any, Any, Found]) -> asyncio.Task[Found]:
    task = asyncio.create_task(work)
    # Retrieves the error of a task whose clients have all gone; asyncio would log it.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _written_index(name: str, found: Mapping[str, Any]) -> str | None:
    """Return the index that receives writes to an index, alias or data stream."""
    if len(found) == 1:
        return next(iter(found))
    if all(each.get("data_stream") == name for each in found.values()):
        return max(found, key=lambda index: int(index.rpartition("-")[2]))  # their names end with their generation
    write = [index for index, each in found.items() if each.get("aliases", {}).get(name, {}).get("is_write_index")]
    return write[0] if len(write) == 1 else None
