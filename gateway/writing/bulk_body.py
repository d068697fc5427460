"""Reads and writes the lines of bulk requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import msgspec

from opensearch_winnow.gateway.limits import MAX_ACTION_BYTES, MEMORY_PER_DOCUMENT
from opensearch_winnow.ingest.own_index.bulk_action import MalformedBulkError, bulk_action, option_text

NAMES = frozenset(("_index", "_id"))  # most action lines have nothing else


@dataclass(frozen=True, slots=True)
class BulkItem:
    """One operation of a bulk request: its kind, and its lines."""

    kind: str
    options: dict[str, Any]  # of the action line: `_index`, `_id`, `routing` …
    action: bytes
    source: bytes | None  # None: it is a delete

    @property
    def index(self) -> str | None:
        return option_text(self.options, "_index")

    @property
    def id(self) -> str | None:
        return option_text(self.options, "_id")

    @property
    def creates(self) -> bool:
        """True if the operation fails if the document exists already."""
        return "create" in (self.kind, self.option("op_type"))

    def option(self, name: str) -> str | None:
        """Return an option of the action line, which old clients write with an underscore."""
        if self.options.keys() <= NAMES:
            return None
        return option_text(self.options, name) or option_text(self.options, f"_{name}")

    def with_id(self, id_: str) -> Self:
        options = self.options | {"_id": id_}
        return replace(self, options=options, action=msgspec.json.encode({self.kind: options}))

    def with_source(self, source: bytes) -> BulkItem:
        return BulkItem(self.kind, self.options, self.action, source)


def memory_of(items: Sequence[BulkItem]) -> int:
    """Return the bytes of memory that operations take while they get fields."""
    return MEMORY_PER_DOCUMENT * len(items) + sum(len(item.source or b"") for item in items)


def bulk_items(body: bytes) -> list[BulkItem]:
    """Return the operations of a bulk request. Raises MalformedBulkError if its body is malformed."""
    lines = body.split(b"\n")
    if lines.pop().strip():
        raise MalformedBulkError("its last line has no newline")
    items = []
    rest = iter(lines)
    for line in rest:
        if not line.strip():
            continue
        if len(line) > MAX_ACTION_BYTES:
            raise MalformedBulkError(f"an action has more than {MAX_ACTION_BYTES:,} bytes")
        kind, options = bulk_action(line)
        source = None if kind == "delete" else next(rest, None)
        if source is None and kind != "delete":
            raise MalformedBulkError("the last operation has no source")
        items.append(BulkItem(kind, options, line, source))
    return items


def bulk_body(items: list[BulkItem]) -> bytes:
    """Return the body of a bulk request."""
    lines = [line for item in items for line in (item.action, item.source) if line is not None]
    return b"\n".join((*lines, b""))
