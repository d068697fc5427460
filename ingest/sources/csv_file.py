"""Reads rows from CSV, in columns that the first line names. Plain, gzip or Zstandard.

Columns are separated by commas, semicolons, tabs or bars, which the first line shows. Values with line breaks are in
double quotes, and a double quote within them is doubled. The text is UTF-8, or as its byte order mark says.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT, USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import too_large
from opensearch_winnow.ingest.sources.jsonl import line_limit
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.source_row import RowChoice, Rows
from opensearch_winnow.ingest.sources.split import Damage, Failed, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

NAME = re.compile(r".*\.(?:csv|tsv)(?:\.gz|\.zst)?", re.IGNORECASE | re.DOTALL)
CSV_TYPE = "text/csv"  # the type of a failed page that is an unreadable row

_DELIMITERS = ",;\t|"
_BOM = "\ufeff"
_PIECE = 1 << 20
_MAX_HEADER = 100_000  # characters


class CsvFile(AbstractContextManager["CsvFile"]):
    """An open CSV file. Reading raises DamagedError where compressed data is damaged."""

    def __init__(self, path: str, fields: FieldNames = USUAL) -> None:
        csv.field_size_limit(sys.maxsize)  # of the whole process: `rows` has a limit of its own
        file = unpacked(path)
        try:
            head = file.peek(3)[:3] if isinstance(file, io.BufferedReader) else b""
            utf_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
            self.encoding = utf_16.get(head[:2], "utf-8")
            # Bytes that are not UTF-8 are kept: they may be in a column that is not read.
            self.errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
            self._file = io.TextIOWrapper(file, self.encoding, self.errors, newline="")
            line = self._file.readline(_MAX_HEADER)
            self.delimiter = _delimiter(line, path, fields)
            self._lines = _CsvLines(self._file, [line] if line else [], _MAX_HEADER)
            self._reader = csv.reader(self._lines, delimiter=self.delimiter)
            first = next(self.rows(_MAX_HEADER), None)
            self.header = first.raw if first else ""
            self.names = [name.strip() for name in first.values or ()] if first else []
            if self.names and self.names[0].startswith(_BOM):  # a quote after it is not taken for one
                self.names[0] = self.names[0].removeprefix(_BOM).strip('"')
        except BaseException:
            file.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def line_break(self) -> str:
        return line_break(self.header) or "\n"

    def rows(self, limit: int) -> Iterator[CsvRow]:
        """Yield the rows that follow, and blank lines, which have no values but an empty list."""
        lines, number = self._lines, 0
        lines.limit = limit
        while True:
            lines.start()
            rest = None
            try:
                values = next(self._reader, None)
                if values is None:
                    return
            except _TooLongError:
                self._reader = csv.reader(lines, delimiter=self.delimiter)
                values, rest = None, lines.rest_of_record()
            number += values != []
            yield CsvRow(self, number, "".join(lines.taken), values, rest)
            deque(rest or (), 0)

    def fields_of(self, values: Sequence[str]) -> dict[str, object]:
        """Return the values of a row by the names of their columns."""
        if len(values) > len(self.names):
            raise FieldError("more values than columns")
        return dict(zip(self.names, values, strict=False))

    def encoded(self, text: str) -> bytes:
        """Return `text` as the file has it."""
        return text.encode(self.encoding, self.errors)


@dataclass(slots=True)
class CsvRow:
    """A row as it is written, and its values. A row that is too long has no values, and continues in `rest`."""

    file: CsvFile
    number: int
    raw: str
    values: list[str] | None
    rest: Iterator[str] | None = None
    fields: dict[str, object] = field(default_factory=dict)

    @property
    def fragment(self) -> str:
        return f"row={self.number - 1}"

    def item(self, address: str, choice: RowChoice) -> Page | Failed | None:
        if self.values == []:
            return None
        if self.values is None:
            return self._failed(address, too_large(choice.max_size), choice)
        try:
            self.fields = self.file.fields_of(self.values)
            return page_of(self.fields, choice.max_size, choice.fields, address, lenient=choice.lenient)
        except FieldError as error:
            reason = "not UTF-8" if str(error).startswith("half a character") else str(error)
            url = if_readable(address_of, self.fields, choice.fields) or address
            return self._failed(url, reason, choice)

    def _failed(self, url: str, reason: str, choice: RowChoice) -> Failed:
        if self.rest is not None and not choice.lenient:
            return Failed(Page(url, html=b""), reason)
        raw = self.file.encoded(self.raw)
        kept = raw if choice.lenient or len(raw) <= choice.max_size else b""
        rest = () if self.rest is None else map(self.file.encoded, self.rest)
        return Failed(Page(url, html=kept, content_type=CSV_TYPE), reason, rest)


def line_break(line: str) -> str:
    """Return the line break at the end of `line`."""
    return next((end for end in ("\r\n", "\n", "\r") if line.endswith(end)), "")


def looks_like(head: bytes) -> bool:
    """Return whether a text that starts with `head` has a header line with usual names."""
    line, end, _ = head.decode("utf-8", "replace").removeprefix(_BOM).partition("\n")
    names = set(_values(line, _delimiter(line, "", USUAL))) if end else set()
    return bool(names & set(ADDRESS) and names & set(CONTENT))


def columns_of(path: str, fields: FieldNames = USUAL) -> list[str]:
    """Return the names of the columns."""
    with CsvFile(path, fields) as file:
        return file.names


def splits(path: str, size: int) -> Iterator[Split]:  # noqa: ARG001 (a line may start within a value)
    yield Split("csv_file", path, 0, None, os.stat(path).st_size)  # noqa: PTH116


def rows(split: Split, choice: RowChoice) -> Rows:
    """Yield all rows. Offsets are characters."""
    position = 0
    try:
        with CsvFile(split.path, choice.fields) as file:
            position = len(file.header)
            for row in file.rows(line_limit(choice.max_size)):
                yield position, row
                position += len(row.raw)
    except DamagedError as damage:
        yield position, Damage(damage.left, str(damage))
    except UnicodeDecodeError:
        yield position, Damage(split.size, "damaged UTF-16")
    yield position, None


def _delimiter(line: str, path: str, fields: FieldNames) -> str:
    """Return the delimiter that finds most of the names that are needed, or else most columns."""
    first = "\t" if re.search(r"\.tsv(?:\.\w+)?$", path, re.IGNORECASE) else ","
    wanted = {fields.id, fields.title, fields.url, *fields.contents, *ADDRESS, *CONTENT}

    def found(delimiter: str) -> tuple[int, int, bool]:
        names = _values(line, delimiter)
        return len(wanted.intersection(names)), len(names), delimiter == first

    return max(_DELIMITERS, key=found)


def _values(line: str, delimiter: str) -> list[str]:
    try:
        values = next(csv.reader([line.removeprefix(_BOM)], delimiter=delimiter), [])
    except csv.Error:  # a carriage return within the line: no text, or one with other line breaks
        return []
    return [value.strip() for value in values]


class _TooLongError(Exception):
    pass


class _CsvLines(Iterator[str]):
    """Gives lines to a csv.reader, and keeps the lines of the current record."""

    def __init__(self, file: io.TextIOWrapper, before: list[str], limit: int) -> None:
        self._file, self._before = file, before
        self.limit = limit
        self.taken: list[str] = []
        self._size = 0

    def start(self) -> None:
        """Start a new record."""
        self.taken, self._size = [], 0

    def __next__(self) -> str:
        line = self._before.pop() if self._before else self._file.readline(self.limit + 1)
        if not line:
            raise StopIteration
        self.taken.append(line)
        self._size += len(line)
        if self._size > self.limit:
            raise _TooLongError
        return line

    def rest_of_record(self) -> Iterator[str]:
        """Yield the rest of a record that was cut off: up to a line break that is not between quotes."""
        last = self.taken[-1]
        quotes = sum(line.count('"') for line in self.taken)
        while (quotes % 2 or not line_break(last)) and (last := self._file.readline(_PIECE)):
            quotes += last.count('"')
            yield last
