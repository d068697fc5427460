"""Writes rows of CSV. Rows that are not changed are copied byte for byte.

Blank lines do not count as rows, and are copied. Where compressed data is damaged, the rest of the file is one failed
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from opensearch_winnow.foundation.packed import close_unfinished, open_packed
from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.rows.row_writer import NextEdit, as_written, other_columns, reading
from opensearch_winnow.ingest.sources.csv_file import CsvFile, CsvRow, line_break
from opensearch_winnow.ingest.sources.jsonl import line_limit
from opensearch_winnow.ingest.sources.page_fields import FieldError, content_field
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import SourceFile
from opensearch_winnow.ingest.sources.unpacked import DamagedError

_DAMAGE = (DamagedError, UnicodeDecodeError)


def writer(path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]) -> CsvRowsWriter:
    return CsvRowsWriter(open_packed(path, packing, target), choice, columns)


class CsvRowsWriter:
    """Writes rows to a CSV file. The first file that is added decides on the columns and on how they are written."""

    def __init__(self, file: IO[bytes], choice: RowChoice, columns: Mapping[str, type]) -> None:
        self.rows = 0
        self._file, self._choice, self._columns = file, choice, columns
        self._first: tuple[SourceFile, CsvFile] | None = None
        self._needs_break = False  # the last row has no line break

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        with reading(file), suppress(*_DAMAGE), CsvFile(file.path, self._choice.fields) as opened:
            self._start(file, opened)
            rows = opened.rows(line_limit(self._choice.max_size))
            while True:
                try:
                    row = next(rows, None)
                except _DAMAGE:
                    next_edit()  # on the rest of the file, which cannot be written
                    raise
                if row is None:
                    break
                blank = row.values == []
                edit = None if blank else next_edit()
                if blank or edit is not None:
                    self._write(self._edited(row, edit, opened) if edit else row.raw, opened)
                    self.rows += not blank
                    for piece in row.rest or ():
                        self._file.write(opened.encoded(piece))
                        self._needs_break = not line_break(piece)

    def _start(self, file: SourceFile, opened: CsvFile) -> None:
        """Write the header, or check that it is the same as before."""
        if self._first is None:
            self._first = file, opened
            new = [name for name in self._columns if name not in opened.names]
            header = opened.header
            if new and opened.names:
                names = "".join(opened.delimiter + _quoted(name, opened.delimiter) for name in new)
                header = opened.header.rstrip("\r\n") + names + line_break(opened.header)
            self._write(header, opened)
            return
        first, like = self._first
        if (opened.names, opened.delimiter, opened.encoding) != (like.names, like.delimiter, like.encoding):
            raise other_columns(file, first)

    def _write(self, text: str, like: CsvFile) -> None:
        if self._needs_break:
            text = like.line_break + text
        self._file.write(like.encoded(text))
        self._needs_break = bool(text) and not line_break(text)

    def _edited(self, row: CsvRow, edit: Edit, opened: CsvFile) -> str:
        """Return the row as `edit` says. A row that does not fit the header stays as it is."""
        if row.values is None or (edit.text is None and not self._columns):
            return row.raw
        names = [*opened.names, *(name for name in self._columns if name not in opened.names)]
        index_of = {name: i for i, name in enumerate(names)}  # of two columns of one name, the last one is read
        values = row.values + [""] * (len(names) - len(row.values))
        try:
            fields = opened.fields_of(row.values)
            if edit.text is not None:
                name = content_field(fields, self._choice.fields)
                values[index_of[name]] = as_written(name, edit.text)
        except FieldError:
            return row.raw
        for name in self._columns:
            values[index_of[name]] = _text(edit.columns.get(name))
        values = [_quoted(value, opened.delimiter) for value in values]
        return (opened.delimiter.join(values) or '""') + line_break(row.raw)

    def close(self) -> None:
        self._file.close()

    def abort(self) -> None:
        close_unfinished(self._file)


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(value: str, delimiter: str) -> str:
    special = any(character in value for character in (delimiter, '"', "\n", "\r")) or value != value.strip()
    return '"' + value.replace('"', '""') + '"' if special else value
