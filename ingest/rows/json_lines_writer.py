"""Writes rows that are JSON lines. Lines that are not changed are copied byte for byte.

Blank lines do not count as rows, and are copied. Where compressed data is damaged, the rest of the file is one failed
row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from opensearch_winnow.foundation.packed import close_unfinished, open_packed
from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.rows.json_members import is_object, members, with_members
from opensearch_winnow.ingest.rows.row_writer import NextEdit, as_written, reading
from opensearch_winnow.ingest.sources import jsonl
from opensearch_winnow.ingest.sources.page_fields import FieldError, content_field
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Damage, SourceFile, Split

_ASCII, _UTF_8 = json.JSONEncoder(), json.JSONEncoder(ensure_ascii=False)


def writer(path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]) -> JsonLinesWriter:
    return JsonLinesWriter(open_packed(path, packing, target), choice, columns)


class JsonLinesWriter:
    """Writes rows to a file of JSON lines."""

    def __init__(self, file: IO[bytes], choice: RowChoice, columns: Mapping[str, type]) -> None:
        self.rows = 0
        self._file, self._choice, self._columns = file, choice, columns
        self._needs_break = False  # the last line has no line break

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        with reading(file):
            for _, line in jsonl.rows(Split("jsonl", file.path), self._choice):
                if isinstance(line, Damage):
                    next_edit()  # on the rest of the file, which cannot be written
                elif isinstance(line, jsonl.JsonLine):
                    blank = line.is_blank
                    edit = None if blank else next_edit()
                    if blank or edit is not None:
                        self._write(self._edited(line.raw, edit) if edit and line.rest is None else line.raw)
                        self.rows += not blank
                        for piece in line.rest or ():
                            self._file.write(piece)
                            self._needs_break = not piece.endswith(b"\n")

    def _write(self, line: bytes) -> None:
        if self._needs_break:
            self._file.write(b"\n")
        self._file.write(line)
        self._needs_break = not line.endswith(b"\n")

    def _edited(self, line: bytes, edit: Edit) -> bytes:
        """Return the line as `edit` says. A line that does not hold an object stays as it is."""
        if edit.text is None and not self._columns:
            return line
        try:
            text = line.decode()
            found, close = members(text)
            names = (
                []
                if edit.text is None
                else [content_field({each.name: each.value for each in found}, self._choice.fields)]
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
