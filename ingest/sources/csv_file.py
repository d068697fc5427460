"""Reads pages from CSV: one row per page, in columns that the first line names. Plain, gzip or Zstandard.

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
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT, USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import file_uri, too_large
from opensearch_winnow.ingest.sources.jsonl import line_limit
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.split import Damage, Failed, Items, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

NAME = re.compile(r".*\.(?:csv|tsv)(?:\.gz|\.zst)?", re.IGNORECASE | re.DOTALL)
CSV_TYPE = "text/csv"  # the type of a failed page that is an unreadable row

_DELIMITERS = ",;\t|"
_BOM = "\ufeff"
_PIECE = 1 << 20
_MAX_HEADER = 100_000  # characters


@dataclass(slots=True)
class CsvRecord:
    """A row, as it is written, and its values. A row that is too long has no values, and continues in `rest`."""

    raw: str
    values: list[str] | None
    rest: Iterator[str] = field(default_factory=lambda: iter(()))


class CsvFile(AbstractContextManager["CsvFile"]):
    """An open CSV file. Reading raises DamagedError where compressed data is damaged."""

    def __init__(self, path: str, fields: FieldNames = USUAL) -> None:
        csv.field_size_limit(sys.maxsize)  # of the whole process: `records` has a limit of its own
        file = unpacked(path)
        try:
            head = file.peek(3)[:3] if isinstance(file, io.BufferedReader) else b""
            utf_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
            self.encoding = utf_16.get(head[:2], "utf-8")
            # Bytes that are not UTF-8 are kept: they may be in a column that nobody reads.
            self.errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
            self._file = io.TextIOWrapper(file, self.encoding, self.errors, newline="")
            line = self._file.readline(_MAX_HEADER)
            self.delimiter = _delimiter(line, path, fields)
            self._lines = _CsvLines(self._file, [line] if line else [], _MAX_HEADER)
            self._reader = csv.reader(self._lines, delimiter=self.delimiter)
            first = next(self.records(_MAX_HEADER), None)
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

    def records(self, limit: int) -> Iterator[CsvRecord]:
        """Yield the rows that follow, and blank lines, which have no values but an empty list."""
        lines = self._lines
        lines.limit = limit
        while True:
            lines.start()
            try:
                values = next(self._reader, None)
            except _TooLongError:
                self._reader = csv.reader(lines, delimiter=self.delimiter)
                rest = lines.rest_of_record()
                yield CsvRecord("".join(lines.taken), None, rest)
                for _ in rest:
                    pass
                continue
            if values is None:
                return
            yield CsvRecord("".join(lines.taken), values)

    def fields_of(self, values: Sequence[str]) -> dict[str, object]:
        """Return the values of a row by the names of their columns."""
        if len(values) > len(self.names):
            raise FieldError("more values than columns")
        return dict(zip(self.names, values, strict=False))

    def item_of(
        self, record: CsvRecord, where: str, page_bytes: int, names: FieldNames, *, lenient: bool
    ) -> Page | Failed:
        """Return the page of a row. `where` is the address of one without an id.

        With `lenient`, it is a row of a data set: a failed one keeps its bytes, however many they are.
        """
        if record.values is None:
            if not lenient:
                return Failed(Page(where, html=b""), too_large(page_bytes))
            raw = record.raw.encode(self.encoding, self.errors)
            rest = (piece.encode(self.encoding, self.errors) for piece in record.rest)
            return Failed(Page(where, html=raw, content_type=CSV_TYPE), too_large(page_bytes), rest)
        fields: dict[str, object] = {}
        try:
            fields = self.fields_of(record.values)
            return page_of(fields, page_bytes, names, where, lenient=lenient)
        except FieldError as error:
            reason = "not UTF-8" if str(error).startswith("half a character") else str(error)
            raw = record.raw.encode(self.encoding, self.errors)
            kept = raw if lenient or len(raw) <= page_bytes else b""
            url = if_readable(address_of, fields, names) or where
            return Failed(Page(url, html=kept, content_type=CSV_TYPE), reason)


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


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of all rows. Offsets are characters."""
    source = split.base or file_uri(split.path)
    position = row = 0
    try:
        with CsvFile(split.path, split.fields) as file:
            position = len(file.header)
            for record in file.records(line_limit(page_bytes)):
                start, position = position, position + len(record.raw)
                if record.values != []:
                    where = f"{source}#row={row}"
                    yield start, file.item_of(record, where, page_bytes, split.fields, lenient=False)
                    row += 1
    except (DamagedError, UnicodeDecodeError) as damage:
        yield position, Damage(*_lost(damage, split.size))
    except OSError as error:
        yield position, Failed(Page(source, html=b""), f"cannot be read: {error.strerror}")
    yield position, None


def _lost(damage: DamagedError | UnicodeDecodeError, size: int) -> tuple[int, str]:
    return (damage.left, str(damage)) if isinstance(damage, DamagedError) else (size, "damaged UTF-16")


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
    """Gives lines to a csv.reader, and keeps those of the current record."""

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
