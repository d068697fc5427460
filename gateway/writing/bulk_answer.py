"""Reads the answers to bulk requests, and puts back the answers to repeated operations."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Self

import msgspec

# Clients that get these must not learn about the index.
FORBIDDEN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class ItemOutcome(msgspec.Struct):
    """The outcome of one operation."""

    status: int
    index: str = msgspec.field(name="_index", default="")
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def was_executed(self) -> bool:
        return self.status < 300

    @property
    def is_forbidden(self) -> bool:
        """True if the client lacks permission to write to the index, or the engine does not know the client."""
        return self.status in FORBIDDEN

    @property
    def error_type(self) -> str:
        """The type of the error; empty if there is no error, or no type."""
        try:
            error = msgspec.json.decode(self.error) if isinstance(self.error, msgspec.Raw) else None
        except msgspec.DecodeError:
            return ""
        return str(error.get("type", "")) if isinstance(error, Mapping) else ""


class _Read(msgspec.Struct):
    items: list[dict[str, ItemOutcome]]
    took: int = 0


class _Parts(msgspec.Struct):
    items: list[msgspec.Raw]


GIVEN_ID = re.compile(rb'"([\w-]{20})"')  # as `new_id` returns them

_READ = msgspec.json.Decoder(_Read)
_PARTS = msgspec.json.Decoder(_Parts)
_WHOLE = msgspec.json.Decoder(dict[str, msgspec.Raw])


class BulkAnswer:
    """The answer to a bulk request. Its bytes stay as they are unless operations were repeated."""

    def __init__(self, content: bytes) -> None:
        """Read an answer. Raises msgspec.DecodeError if it is invalid."""
        self._content = content
        read = _READ.decode(content)
        self._took = read.took
        self._parts: list[msgspec.Raw] | None = None  # read only if some are replaced
        self._withheld: set[bytes] = set()
        self.outcomes = [outcome for item in read.items for outcome in item.values()]

    @classmethod
    def of_failure(cls, operations: Sequence[Mapping[str, Any]], status: int, error: Mapping[str, Any]) -> Self:
        """Return an answer in which all operations fail. Each is given as `{"index": {"_id": …}}`."""
        failure = {"status": status, "error": error}
        items = [{kind: {**options, **failure} for kind, options in each.items()} for each in operations]
        return cls(msgspec.json.encode({"took": 0, "errors": True, "items": items}))

    def replace(self, numbers: Sequence[int], repeated: BulkAnswer) -> None:
        """Replace the outcomes of the operations with these `numbers` by those of `repeated`, in the same order."""
        parts = self._parts = self._items()
        for number, part, outcome in zip(numbers, repeated._items(), repeated.outcomes, strict=True):
            parts[number] = part
            self.outcomes[number] = outcome
        self._took += repeated._took

    def withhold(self, ids: Collection[str]) -> None:
        """Write null instead of these ids, which the gateway has given to documents."""
        self._withheld = {id_.encode() for id_ in ids}

    def content(self) -> bytes:
        """Return the answer for the client."""
        content = self._replaced()
        if not self._withheld:
            return content
        return GIVEN_ID.sub(lambda found: b"null" if found[1] in self._withheld else found[0], content)

    def _replaced(self) -> bytes:
        if self._parts is None:
            return self._content
        errors = any(outcome.error is not msgspec.UNSET for outcome in self.outcomes)
        return msgspec.json.encode(
            _WHOLE.decode(self._content) | {"took": self._took, "errors": errors, "items": self._parts}
        )

    def _items(self) -> list[msgspec.Raw]:
        return self._parts if self._parts is not None else _PARTS.decode(self._content).items
