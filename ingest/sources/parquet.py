"""Reads rows from Parquet, in columns named as the fields of JSON lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import IO, Any, cast

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import SourceError, UnreadableError, printable
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT
from opensearch_winnow.ingest.sources.files import too_large
from opensearch_winnow.ingest.sources.jsonl import LINE_TYPE
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.parquet_footer import Footer, FooterError, read_footer
from opensearch_winnow.ingest.sources.source_row import RowChoice, Rows
from opensearch_winnow.ingest.sources.split import TOO_MUCH_MEMORY, Damage, Failed, Split
from opensearch_winnow.mappings.record_metadata import METADATA

BATCH_BYTES = 8 << 20  # of rows in memory at a time, by their average size
MAX_BATCH_ROWS = 256  # because the average misleads if all rows share one value
REVISIT_COLUMNS = ("payload_digest", "duplicate", "duplicate_of")  # of a record file

DAMAGED = "damaged Parquet"
_BUFFER = 1 << 20  # bytes of a column in memory, instead of a whole row group
_TEXTS = (pa.StringScalar, pa.LargeStringScalar, pa.StringViewScalar)
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # per second
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def looks_like(head: bytes) -> bool:
    return head.startswith(b"PAR1")


def splits(path: str, size: int) -> Iterator[Split]:
    """Yield splits of whole row groups, of about `size` compressed bytes; none for a file without rows.

    Arrow is not used in this process, which must survive: it aborts over some damaged files.
    """
    start = end = held = 0
    for group in _footer(path).groups:
        if held and held + group.compressed > size:
            yield Split("parquet", path, start, end, held)
            start, held = end, 0
        end += group.rows
        held += group.compressed
    if end > start:
        yield Split("parquet", path, start, end, held)


def columns_of(path: str) -> list[str]:
    """Return the names of the columns."""
    return _footer(path).names


def _footer(path: str) -> Footer:
    """Return the footer of a file. Raises UnreadableError."""
    status = os.stat(path)  # noqa: PTH116
    found = _footer_or_problem(path, status.st_size, status.st_mtime_ns)
    if isinstance(found, str):
        raise UnreadableError(f"Parquet that cannot be read: {found}")
    return found


@lru_cache(maxsize=1)  # a file that was named is checked first, and divided later
def _footer_or_problem(path: str, size: int, changed_at: int) -> Footer | str:  # noqa: ARG001
    try:
        return read_footer(path)
    except FooterError as error:
        return str(error)


def check_columns(names: Sequence[str], path: str) -> None:
    """Refuse a table without a column for URLs or ids and one for content."""
    if not set(names) & set(ADDRESS) or not set(names) & set(CONTENT):
        raise SourceError(
            f"{printable(path)} has no pages: it needs a column url or id, and one html or text, but its columns are "
            f"{', '.join(map(printable, names)) or 'none'}; rename them first"
        )


def rows(split: Split, choice: RowChoice) -> Rows:
    """Yield the rows of `split`. Offsets are rows."""
    if choice.lenient:
        columns_of(split.path)  # raises UnreadableError for a file over which Arrow would end this process
    try:
        with open(split.path, "rb") as opened:  # noqa: PTH123
            file = opened_parquet(opened)
            columns = choice.fields.columns(file.schema_arrow.names, *filter(None, [choice.value_field]))
            if METADATA in (file.schema_arrow.metadata or {}) and not choice.lenient:  # records, perhaps revisits
                columns = [*columns, *(name for name in REVISIT_COLUMNS if name in file.schema_arrow.names)]
            end = file.metadata.num_rows if split.end is None else min(split.end, file.metadata.num_rows)
            first = 0
            for row_group in range(file.metadata.num_row_groups):
                after = first + file.metadata.row_group(row_group).num_rows
                if first < end and split.start < after:
                    yield from _rows(file, row_group, columns, first, range(split.start, min(end, after)), choice)
                first = after
    except MemoryError:
        raise
    except Exception as error:  # Arrow has many: also UnicodeDecodeError for the name of a column
        if isinstance(error, OSError) and error.errno:
            raise
        yield split.start, Damage(split.size, DAMAGED)
    yield split.start if split.end is None else split.end, None


def opened_parquet(file: IO[bytes]) -> ParquetFile:
    """Open Parquet in an open file: by name, pyarrow opens only files with names in UTF-8."""
    return ParquetFile(file, buffer_size=_BUFFER, page_checksum_verification=True)


def _rows(
    file: ParquetFile, row_group: int, columns: Sequence[str], first: int, wanted: range, choice: RowChoice
) -> Rows:
    """Yield the rows of a row group that are within `wanted`. `first` is the number of its first row."""
    row, reason = first, DAMAGED
    try:
        for batch in batches(file, row_group, columns):
            for i in range(max(wanted.start - row, 0), min(wanted.stop - row, batch.num_rows)):
                yield row + i, ParquetRow(batch, i, row + i + 1)
            row += batch.num_rows
            if row >= wanted.stop:
                return
    except MemoryError:
        if choice.lenient:
            raise
        reason = TOO_MUCH_MEMORY
    row = max(row, wanted.start)
    group = file.metadata.row_group(row_group)
    size = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
    yield row, Damage(size, reason, rows=wanted.stop - row)


def batches(
    file: ParquetFile, row_group: int, columns: Sequence[str] | None, most: int = MAX_BATCH_ROWS
) -> Iterator[Any]:
    """Yield the rows of a row group, in batches of at most `most` rows, until it is damaged."""
    group = file.metadata.row_group(row_group)
    size = batch_rows(group, file.schema_arrow.names if columns is None else columns, most)
    found = file.iter_batches(batch_size=size, row_groups=[row_group], columns=columns, use_threads=False)
    while True:
        try:
            batch = next(found, None)
        except MemoryError:
            raise
        except Exception:
            return
        if batch is None:
            return
        yield batch


def batch_rows(group: Any, columns: Sequence[str], most: int) -> int:
    """Return how many rows of a row group to read at a time, by the size of the columns that are read."""
    chunks = [group.column(number) for number in range(group.num_columns)]
    size: int = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns)
    return max(1, min(most, BATCH_BYTES * int(group.num_rows) // max(size, 1)))


@dataclass(slots=True)
class ParquetRow:
    """A row of a batch of Arrow. If a field cannot be read, `fields` has the fields that were read before it."""

    batch: Any
    index: int
    number: int
    fields: dict[str, object] = field(default_factory=dict)

    @property
    def fragment(self) -> str:
        return f"row={self.number - 1}"

    def item(self, address: str, choice: RowChoice, *, needs_id: bool = False) -> Page | Failed:
        """Return the page of the row. One without an id has the id `address`, or fails with `needs_id`."""
        fields, names = self.fields, choice.fields
        try:
            read_fields(self.batch, self.index, choice.max_size, names.addresses, fields)
            read_fields(self.batch, self.index, choice.max_size, (), fields)
            page = page_of(fields, choice.max_size, names, None if needs_id else address, lenient=choice.lenient)
            return _as_recorded(page, fields) if fields.keys() >= set(REVISIT_COLUMNS) else page
        except FieldError as error:
            url = if_readable(address_of, fields, names) or address
            kept = Page(url, html=self._line(), content_type=LINE_TYPE) if choice.lenient else Page(url, html=b"")
            return Failed(kept, str(error))

    def _line(self) -> bytes:
        """Return the values that can be read, of any size, as a JSON line."""
        fields: dict[str, object] = {}
        for name in self.batch.schema.names:
            with suppress(FieldError):
                read_fields(self.batch, self.index, sys.maxsize, (name,), fields)
        return json.dumps(fields, default=_as_text).encode()


def _as_text(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _as_recorded(page: Page, fields: Mapping[str, object]) -> Page:
    """Return the page of a record: a revisit without a text gets it when the page that it repeats is stored."""
    digest, before = fields["payload_digest"], fields["duplicate_of"]
    page.payload_digest = digest if isinstance(digest, str) else None
    if fields["duplicate"] == "revisit" and page.text == "":
        page.text, page.revisit_of = None, before if isinstance(before, str) else page.url
    return page


def read_fields(batch: Any, number: int, page_bytes: int, only: Sequence[str], fields: dict[str, object]) -> None:
    """Put the values of a row into `fields`, by the names of its columns; with `only`, of these columns."""
    for name in batch.schema.names:
        if name not in fields and (not only or name in only):
            fields[name] = _value(batch.column(name)[number], name, page_bytes)


def _value(scalar: Any, name: str, page_bytes: int) -> object:
    if isinstance(scalar, pa.DictionaryScalar):
        scalar = scalar.value
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.BinaryScalar):
        value = scalar.as_buffer()
        if value.size > page_bytes:
            raise FieldError(too_large(page_bytes))
        value = value.to_pybytes()
        return _text(value) if isinstance(scalar, _TEXTS) else value
    try:
        if isinstance(scalar, pa.TimestampScalar):  # as_py() needs pandas for nanoseconds, and time zones
            return _1970 + timedelta(microseconds=scalar.value * 10**6 // _TICKS[scalar.type.unit])
        return cast("object", scalar.as_py())
    except (ValueError, OverflowError, pa.ArrowException):
        raise FieldError(f"{name} cannot be read") from None


def _text(value: bytes) -> str | bytes:
    """Decode a string. If it is not UTF-8, which Parquet does not check, return bytes: HTML in bytes can be decoded."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
