"""Reads and writes rows that are JSON lines. Lines that are not changed are copied byte for byte.

Blank lines are no rows: they are copied. Where compressed data is damaged, the rest of the file is one failed row.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from opensearch_winnow.foundation.packed import close_unfinished, open_packed
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.rows.json_members import is_object, members, with_members
from opensearch_winnow.ingest.rows.row_format import NextEdit, ReadRow, RowChoice, as_written, reading
from opensearch_winnow.ingest.sources.field_names import value_at
from opensearch_winnow.ingest.sources.files import too_large
from opensearch_winnow.ingest.sources.jsonl import (
    BLANK,
    LINE_TYPE,
    item_of,
    line_limit,
    object_of,
    pieces_of_line,
)
from opensearch_winnow.ingest.sources.page_fields import FieldError, content_field
from opensearch_winnow.ingest.sources.split import Failed, SourceFile
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

_ASCII, _UTF_8 = json.JSONEncoder(), json.JSONEncoder(ensure_ascii=False)


def read(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the rows of `file`."""
    limit, number = line_limit(choice.max_size), 0
    try:
        with unpacked(file.path) as opened:
            while line := opened.readline(limit + 1):
                number += 1
                where, location = f"{file.name}#{number}", f"line {number}"
                if len(line) > limit:
                    rest = pieces_of_line(opened, line)
                    kept = Page(where, html=line, content_type=LINE_TYPE)
                    yield ReadRow(Failed(kept, too_large(choice.max_size), rest), location)
                    deque(rest, 0)
                elif stripped := line.strip(BLANK):
                    yield _row(stripped, where, location, choice)
    except DamagedError as damage:
        yield ReadRow(Failed(Page(file.name, html=b""), str(damage)), f"after line {number}")
    except OSError as error:
        yield ReadRow(Failed(Page(file.name, html=b""), f"cannot be read: {error.strerror}"), f"after line {number}")


def _row(line: bytes, where: str, location: str, choice: RowChoice) -> ReadRow:
    try:
        fields = object_of(line)
    except FieldError as error:
        return ReadRow(Failed(Page(where, html=line, content_type=LINE_TYPE), str(error)), location)
    value = value_at(fields, choice.value_field) if choice.value_field else None
    return ReadRow(item_of(line, where, choice.max_size, choice.fields, fields, lenient=True), location, value)


def writer(path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]) -> JsonLinesWriter:
    return JsonLinesWriter(open_packed(path, packing, target), choice, columns)


class JsonLinesWriter:
    """Writes rows to a file of JSON lines."""

    def __init__(self, file: IO[bytes], choice: RowChoice, columns: Mapping[str, type]) -> None:
        self.rows = 0
        self._file, self._columns = file, columns
        self._fields, self._limit = choice.fields, line_limit(choice.max_size)
        self._needs_break = False  # the last line has no line break

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        limit = self._limit
        with reading(file), suppress(DamagedError), unpacked(file.path) as opened:
            while True:
                try:
                    line = opened.readline(limit + 1)
                except DamagedError:
                    next_edit()  # on the rest of the file, which cannot be written
                    raise
                if not line:
                    break
                blank = not line.strip(BLANK)
                edit = None if blank else next_edit()
                if blank or edit is not None:
                    self._write(self._edited(line, edit) if edit and len(line) <= limit else line)
                    self.rows += not blank
                while len(line) > limit and not line.endswith(b"\n"):
                    line = opened.readline(limit + 1)
                    if edit is not None:
                        self._file.write(line)
                        self._needs_break = not line.endswith(b"\n")

    def _write(self, line: bytes) -> None:
        if self._needs_break:
            self._file.write(b"\n")
        self._file.write(line)
        self._needs_break = not line.endswith(b"\n")

    def _edited(self, line: bytes, edit: Edit) -> bytes:
        """Return the line as `edit` says. A line that is no object stays as it is."""
        if edit.text is None and not self._columns:
            return line
        try:
            text = line.decode()
            found, close = members(text)
            names = (
                [] if edit.text is None else [content_field({each.name: each.value for each in found}, self._fields)]
            )
        except (ValueError, RecursionError, FieldError):
            return line
        if not is_object(text, close):
            return line
        encode = _ASCII.encode if line.isascii() else _UTF_8.encode  # as the line is written
        replaced = {name: encode(as_written(name, edit.text or "")) for name in names}
        added = {name: encode(edit.columns.get(name)) for name in self._columns}
        return with_members(text, found, close, replaced, added).encode()

    def close(self) -> None:
        self._file.close()

    def abort(self) -> None:
        close_unfinished(self._file)
