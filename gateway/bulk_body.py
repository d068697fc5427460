"""Reads and writes the lines of bulk requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import msgspec

KINDS = ("index", "create", "update", "delete")

_actions = msgspec.json.Decoder(dict[str, dict[str, Any]])


class MalformedBulkError(ValueError):
    """A body that is no bulk request. Engines say what is wrong with it."""


@dataclass(frozen=True, slots=True)
class BulkItem:
    """One operation of a bulk request: what it does, and the lines that say so."""

    kind: str
    options: dict[str, Any]  # of the action line: `_index`, `_id`, `routing` …
    action: bytes
    source: bytes | None  # None: it is a delete

    @property
    def index(self) -> str | None:
        return self._text("_index")

    @property
    def id(self) -> str | None:
        return self._text("_id")

    def option(self, name: str) -> str | None:
        """Return an option of the action line, which old clients write with an underscore."""
        return self._text(name) or self._text(f"_{name}")

    def with_id(self, id_: str) -> Self:
        options = self.options | {"_id": id_}
        return replace(self, options=options, action=msgspec.json.encode({self.kind: options}))

    def with_source(self, source: bytes) -> Self:
        return replace(self, source=source)

    def _text(self, name: str) -> str | None:
        """Return a value as engines read it: they take numbers for texts."""
        value = self.options.get(name)
        return None if value is None else str(value)


def bulk_items(body: bytes) -> list[BulkItem]:
    """Return the operations of a bulk request. Raises MalformedBulkError if it is none."""
    lines = body.split(b"\n")
    if lines.pop().strip():
        raise MalformedBulkError("its last line has no newline")
    items = []
    rest = iter(lines)
    for line in rest:
        if not line.strip():
            continue
        try:
            ((kind, options),) = _actions.decode(line).items()
        except ValueError:
            raise MalformedBulkError("an action line is no object with one key") from None
        if kind not in KINDS:
            raise MalformedBulkError("an action is unknown")
        source = None if kind == "delete" else next(rest, None)
        if source is None and kind != "delete":
            raise MalformedBulkError("the last operation has no source")
        items.append(BulkItem(kind, options, line, source))
    return items


def bulk_body(items: list[BulkItem]) -> bytes:
    """Return the body of a bulk request."""
    lines = [line for item in items for line in (item.action, item.source) if line is not None]
    return b"\n".join((*lines, b""))
