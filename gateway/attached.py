"""Finds out whether the index that a client names is attached, and what its documents need."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.key_file import environment_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.mappings.own_fields import Attachment, OwnFields, attachment_in
from opensearch_winnow.stores.opensearch.own_opening import attachment_of
from opensearch_winnow.stores.opensearch.own_pages import OwnPages

# For how long an answer about an index counts. It costs one small request, so a few seconds make it cheap; and
# whoever attaches an index does not want to wait longer for the first document with fields.
REMEMBERED_SECONDS = 5.0
FILTER = "filter_path=*.aliases,*.data_stream,*.mappings._meta,*.settings"
MAX_NAMES = 1_000  # to show: clients may combine names and wildcards in any number of ways
NO_PIPELINE = "_none"  # engines take it for none at all


@dataclass(frozen=True, slots=True)
class AttachedIndex:
    """An attached index, alias or data stream."""

    name: str  # as the client names it
    fields: OwnFields
    scheme: Scheme
    pages: OwnPages
    written: str | None  # the index that a write goes to; None if there is none, or if it is not attached itself
    default_pipeline: str = NO_PIPELINE  # of that index
    final_pipeline: str = NO_PIPELINE

    def runs_pipeline(self, chosen: str | None) -> bool:
        """Whether an ingest pipeline may change a document that is written; `chosen` is the client's choice."""
        first = self.default_pipeline if chosen is None else chosen
        return first != NO_PIPELINE or self.final_pipeline != NO_PIPELINE


@dataclass(frozen=True, slots=True)
class Unusable:
    """An index that is attached, or may be, and whose documents get no fields nevertheless."""

    reason: str
    failure: EngineAnswer | None = None  # what a request gets that needs the index; None: it can only be refused


Found = AttachedIndex | Unusable | None  # None: it is not attached


class AttachedIndices:
    """Answers whether an index is attached, and remembers it for a few seconds."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[float, asyncio.Task[Found]]] = {}
        self._schemes: dict[tuple[str, str | None], Scheme] = {}
        self.names: set[str] = set()  # that were attached when they were looked up last

    async def find(self, name: str, send: Send, reader: str = "") -> Found:
        """Return what is known about `name`, asking the engine by `send` if need be.

        `reader` identifies the credentials of `send`: what one user may read says nothing about another.
        """
        key, now = (name, reader), time.monotonic()
        end, task = self._found.get(key, (0.0, None))
        if task is None or end < now:
            self._found = {known: each for known, each in self._found.items() if each[0] >= now}
            task = asyncio.create_task(self._ask(name, send))
            # If it fails when all clients that waited for it have gone, nobody else takes note of the error.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._found[key] = (now + REMEMBERED_SECONDS, task)
        try:
            return await asyncio.shield(task)
        except Exception as error:  # documents pass in any case; if the engine is gone, their own request says so
            self._found.pop(key, None)
            failure = error.answer() if isinstance(error, GatewayError) else None
            return Unusable(f"{name} cannot be looked up: {error}", failure)

    def forget(self) -> None:
        """Ask again for every index, because somebody may have changed it."""
        self._found = {}

    async def _ask(self, name: str, send: Send) -> Found:
        answer = await send("GET", f"/{quote(name, safe=',*')}?flat_settings=true&expand_wildcards=all&{FILTER}", None)
        self.names.discard(name)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        if answer.status != HTTPStatus.OK:
            reason = f"{name} cannot be looked up: the engine answers with status {answer.status}"
            return Unusable(reason, answer)
        try:
            found = self._read(name, answer)
        except WinnowError as error:
            return Unusable(str(error))
        if found is not None and len(self.names) < MAX_NAMES:
            self.names.add(name)
        return found

    def _read(self, name: str, answer: EngineAnswer) -> AttachedIndex | None:
        found: dict[str, Any] = {index: {"mappings": {}} | each for index, each in answer.json().items()}
        attachment = attachment_of(found, name)
        if attachment is None:
            return None
        scheme = self._scheme(attachment)
        pages = OwnPages(attachment.fields, scheme)
        pages.uuids.update((index, each["settings"]["index.uuid"]) for index, each in found.items())
        written = _written_index(name, found)
        settings: Mapping[str, str] = found[written]["settings"] if written else {}
        if written is not None and attachment_in(found[written]["mappings"], written) is None:
            written = None  # new behind its alias, and without the mapping of winnow's fields
        pipelines = (settings.get(f"index.{kind}_pipeline", NO_PIPELINE) for kind in ("default", "final"))
        return AttachedIndex(name, attachment.fields, scheme, pages, written, *pipelines)

    def _scheme(self, attachment: Attachment) -> Scheme:
        """Return the scheme of an index, with the key of the environment if it has one."""
        kept = (attachment.scheme.id, str(attachment.scheme.choices))
        if kept not in self._schemes:
            written = attachment.scheme
            self._schemes[kept] = written.scheme(environment_key()) if written.keyed else written.scheme_with(None)
        return self._schemes[kept]


def _written_index(name: str, found: Mapping[str, Any]) -> str | None:
    """Return the index that a write to an index, alias or data stream goes to."""
    if len(found) == 1:
        return next(iter(found))
    if all(each.get("data_stream") == name for each in found.values()):
        return max(found, key=lambda index: int(index.rpartition("-")[2]))  # their names end with their generation
    write = [index for index, each in found.items() if each.get("aliases", {}).get(name, {}).get("is_write_index")]
    return write[0] if len(write) == 1 else None
