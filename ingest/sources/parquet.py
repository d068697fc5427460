"""Reads pages from Parquet: one row per page, in columns named as the fields of JSON lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, cast

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import SourceError, UnreadableError, printable
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT, USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import file_uri, too_large
from opensearch_winnow.ingest.sources.jsonl import LINE_TYPE
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.parquet_footer import Footer, FooterError, read_footer
from opensearch_winnow.ingest.sources.split import TOO_MUCH_MEMORY, Damage, Failed, Items, Split
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
    """Yield splits of whole row groups, of about `size` compressed bytes; none if there are no rows.

    Arrow is not used in this process, which must survive: it aborts over some damaged files.
    """
    status = os.stat(path)  # noqa: PTH116
    footer = _footer(path, status.st_size, status.st_mtime_ns)
    start = end = held = 0
    for group in footer.groups:
        if held and held + group.compressed > size:
            yield Split("parquet", path, start, end, held)
            start, held = end, 0
        end += group.rows
        held += group.compressed
    if end > start:
        yield Split("parquet", path, start, end, held)


@lru_cache(maxsize=1)  # a file that was named is checked first, and divided later
def _footer(path: str, size: int, changed_at: int) -> Footer:  # noqa: ARG001
    try:
        return read_footer(path)
    except FooterError as error:
        raise UnreadableError(f"Parquet that cannot be read: {error}") from None


def columns_of(path: str) -> list[str]:
    """Return the names of the columns."""
    status = os.stat(path)  # noqa: PTH116
    return _footer(path, status.st_size, status.st_mtime_ns).names


def check_columns(names: Sequence[str], path: str) -> None:
    """Refuse a table without a column for URLs or ids and one for content."""
    if not set(names) & set(ADDRESS) or not set(names) & set(CONTENT):
        raise SourceError(
            f"{printable(path)} has no pages: it needs a column url or id, and one html or text, but its columns are "
            f"{', '.join(map(printable, names)) or 'none'}; rename them first"
        )


def _bytes(group: Any) -> int:
    return sum(group.column(i).total_compressed_size for i in range(group.num_columns))


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of the rows of `split`. Offsets are rows."""
    source = split.base or file_uri(split.path)
    try:
        with open(split.path, "rb") as opened:  # noqa: PTH123
            # From an open file: pyarrow accepts only names in UTF-8.
            file = ParquetFile(opened, buffer_size=_BUFFER, page_checksum_verification=True)
            end = file.metadata.num_rows if split.end is None else min(split.end, file.metadata.num_rows)
            first = 0
            for row_group in range(file.metadata.num_row_groups):
                count = file.metadata.row_group(row_group).num_rows
                if first < end and split.start < first + count:
                    yield from _group(file, row_group, first, (split.start, end), source, page_bytes, split.fields)
                first += count
    except MemoryError:
        raise
    except Exception as error:  # Arrow has many: also UnicodeDecodeError for the name of a column
        if isinstance(error, OSError) and error.errno:
            yield split.start, Failed(Page(source, html=b""), f"cannot be read: {error.strerror}")
        else:
            yield split.start, Damage(split.size, DAMAGED)
    yield split.start if split.end is None else split.end, None


def _group(
    file: Any, row_group: int, first: int, wanted: tuple[int, int], source: str, page_bytes: int, names: FieldNames
) -> Items:
    """Yield the rows of a row group that are within `wanted`. `first` is the number of its first row."""
    columns = names.columns(file.schema_arrow.names)
    if METADATA in (file.schema_arrow.metadata or {}):  # a record file, which may have revisits
        columns = [*columns, *(name for name in REVISIT_COLUMNS if name in file.schema_arrow.names)]
    group = file.metadata.row_group(row_group)
    rows = batch_rows(group, columns)
    row = first
    try:
        for batch in file.iter_batches(batch_size=rows, row_groups=[row_group], columns=columns, use_threads=False):
            for number in range(max(wanted[0] - row, 0), min(wanted[1] - row, batch.num_rows)):
                where = f"{source}#row={row + number}"
                yield row + number, item_of(batch, number, where, page_bytes, names, id_from_location=True)
            row += batch.num_rows
            if row >= wanted[1]:
                return
    except MemoryError:
        yield max(row, wanted[0]), Damage(_bytes(group), TOO_MUCH_MEMORY)
    except Exception:
        yield max(row, wanted[0]), Damage(_bytes(group), DAMAGED)


def batch_rows(group: Any, columns: Sequence[str], most: int = MAX_BATCH_ROWS) -> int:
    """Return how many rows of a row group to read at a time, by the size of the columns that are read."""
    chunks = [group.column(number) for number in range(group.num_columns)]
    size: int = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns)
    return max(1, min(most, BATCH_BYTES * int(group.num_rows) // max(size, 1)))


def item_of(
    batch: Any,
    number: int,
    where: str,
    page_bytes: int,
    names: FieldNames = USUAL,
    *,
    id_from_location: bool = False,
    lenient: bool = False,
) -> Page | Failed:
    """Return the page of a row. One without an id has the address `where` with `id_from_location`, and fails without.

    With `lenient`, it is a row of a data set: a failed one keeps its values, however large they are.
    """
    fields: dict[str, object] = {}
    try:
        read_fields(batch, number, page_bytes, names.addresses, fields)
        read_fields(batch, number, page_bytes, (), fields)
        page = page_of(fields, page_bytes, names, where if id_from_location else None, lenient=lenient)
        return _as_recorded(page, fields) if fields.keys() >= set(REVISIT_COLUMNS) else page
    except FieldError as error:
        url = if_readable(address_of, fields, names) or where
        kept = Page(url, html=_line(batch, number), content_type=LINE_TYPE) if lenient else Page(url, html=b"")
        return Failed(kept, str(error))


def _line(batch: Any, number: int) -> bytes:
    """Return the values of a row that were read, of any size, as a JSON line."""
    fields: dict[str, object] = {}
    for name in batch.schema.names:
        with suppress(FieldError):
            read_fields(batch, number, sys.maxsize, (name,), fields)
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
    """Put the values of a row into `fields`, by the names of its columns; with `only`, those of these columns."""
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
    except (ValueError, OverflowError):
        raise FieldError(f"{name} cannot be read") from None


def _text(value: bytes) -> str | bytes:
    """Decode a string. If it is not UTF-8, which Parquet does not check, return bytes: HTML in bytes can be decoded."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
