"""Looks at the first rows of a file, to stop a run that would find a text in none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.foundation.some_of import some_of
from opensearch_winnow.ingest.sources import csv_file, jsonl
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.ingest.sources.page_fields import FieldError
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

ROW_FORMATS = ("jsonl", "parquet", "csv_file")  # whose pages are rows
MAX_ROWS = 100
MAX_LINE = 1 << 20  # bytes of a line: a longer one is left to the run

_MAX_SHOWN, _MAX_LENGTH = 20, 40  # names in a message, and characters of each: a table may have no header line


class AbsentFields(NamedTuple):
    """The fields that the rows of a file lack."""

    reason: str  # general, by which files are counted
    sentence: str  # with the fields that they have, and what to do


def missing_fields(kind: str, path: str, fields: FieldNames) -> AbsentFields | None:
    """Return what the rows of a file lack; None if they can be read, or if none of them shows it."""
    seen = fields_seen(kind, path, fields)
    return None if seen is None else missing_in(seen, fields)


def missing_in(seen: Sequence[str], fields: FieldNames) -> AbsentFields | None:
    """Return what rows with the fields `seen` lack; None if they can be read."""
    reason = fields.missing(seen)
    if not reason:
        return None
    advice = "" if fields.contents else "; name the one that holds the text with --text-field or FieldNames(text=…)"
    return AbsentFields(reason, f"{reason}: its fields are {listed(seen)}{advice}")


def listed(seen: Sequence[str]) -> str:
    """Return the names of fields as a message has them."""
    names = [name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}…" for name in seen]
    return some_of(names, _MAX_SHOWN) or "none"


def fields_seen(kind: str, path: str, fields: FieldNames) -> list[str] | None:
    """Return the names of the fields in the first rows, in their order; None if no row could be read."""
    if kind == "parquet":
        from opensearch_winnow.ingest.sources import parquet  # noqa: PLC0415 (an extra)

        return parquet.columns_of(path)
    try:
        return csv_file.columns_of(path, fields) if kind == "csv_file" else _names_in_lines(path)
    except (DamagedError, UnicodeDecodeError):
        return None


def _names_in_lines(path: str) -> list[str] | None:
    names: dict[str, None] | None = None
    with unpacked(path) as file:
        for _ in range(MAX_ROWS):
            line = file.readline(MAX_LINE)
            if len(line) == MAX_LINE:
                return None
            try:
                names = (names or {}) | dict.fromkeys(jsonl.object_of(line.strip(jsonl.BLANK)))
            except FieldError:
                continue
    return None if names is None else list(names)
