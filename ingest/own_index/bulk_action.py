"""Reads the action lines of `_bulk` bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.foundation.extras import extra

with extra("fields"):
    import msgspec

WITH_SOURCE = ("index", "create", "update")  # each has a document on the next line
_ACTION = msgspec.json.Decoder(dict[str, dict[str, Any]])


class MalformedBulkError(ValueError):
    """A body is not a bulk request. The message is short, because engines explain the error."""


def bulk_action(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return the operation of an action line, and its options: `_index`, `_id` … Raises MalformedBulkError."""
    try:
        ((operation, options),) = _ACTION.decode(line).items()
    except (ValueError, RecursionError):
        raise MalformedBulkError("not an action of a _bulk body") from None
    if operation not in (*WITH_SOURCE, "delete"):
        raise MalformedBulkError(f"not an action of a _bulk body: {operation[:20]}")
    return operation, options


def option_text(options: Mapping[str, Any], name: str) -> str | None:
    """Return an option as text, as engines read it: they accept numbers, too."""
    value = options.get(name)
    return None if value is None else str(value)
