"""Writes rows of captures: as CSV, JSON lines or Parquet with chosen columns, and as CDXJ."""

from __future__ import annotations

import csv
import heapq
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import ExitStack, nullcontext
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from opensearch_winnow.foundation.atomic_file import new_file, reporting_os_errors
from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.capture_row import Row
from opensearch_winnow.mappings.cdxj import cdxj_line

ROWS_PER_GROUP = 20_000  # of Parquet
LINES_IN_MEMORY = 500_000  # about 200 MB


class RowsWritten(NamedTuple):
    """The outcome of writing rows."""

    rows: int
    bytes: int
    left_out: Mapping[str, int] = MappingProxyType({})  # captures that an index of archives cannot list, by reason
    ambiguous: str | None = None  # an archive that the index cannot distinguish from another of the same name
    archives: AbstractSet[str] = frozenset()  # the paths of the archives that the index lists


def write_csv(target: Path | None, rows: Iterable[Row], columns: Sequence[str]) -> RowsWritten:
    """Write rows with a header, for spreadsheets. Unknown values are empty."""

    def lines() -> Iterator[str]:
        yield _csv_line(columns)
        for row in rows:
            yield _csv_line([escape_formula(_plain(row[name])) for name in columns])

    written = _write_lines(target, lines())
    return written._replace(rows=written.rows - 1)


def write_json(target: Path | None, rows: Iterable[Row], columns: Sequence[str] | None = None) -> RowsWritten:
    """Write a JSON object for each row: all of it, or these columns."""
    escaped = target is None and sys.stdout.isatty()  # control characters beyond ASCII would act on a terminal
    objects = ({name: _plain(row[name]) for name in columns or row} for row in rows)
    return _write_lines(target, (f"{json.dumps(each, ensure_ascii=escaped)}\n" for each in objects))


def write_cdxj(target: Path | None, rows: Iterable[Row]) -> RowsWritten:
    """Write an index of the archives that the captures are in, sorted. Others are left out, and counted.

    Nothing is written if all are left out.
    """
    left_out: Counter[str] = Counter()
    archives: dict[str, str] = {}  # by the name that the index gives them
    paths: set[str] = set()
    ambiguous: str | None = None

    def lines() -> Iterator[str]:
        nonlocal ambiguous
        for row in rows:
            if reason := _not_in_an_index(row):
                left_out[reason] += 1
                continue
            source = ArchiveLocation(*(row[name] for name in ArchiveLocation._fields))
            paths.add(source.file)
            if archives.setdefault(Path(source.file).name, source.file) != source.file:
                ambiguous = ambiguous or source.file
            yield cdxj_line(row["url"], row["fetched_at"], row["payload_digest"], source)

    ordered = sorted_lines(lines())
    first = next(ordered, None)
    written = RowsWritten(0, 0) if first is None else _write_lines(target, chain([first], ordered))
    return written._replace(left_out=left_out, ambiguous=ambiguous, archives=paths)


def _not_in_an_index(row: Row) -> str | None:
    """Return the reason why an index of archives cannot list a capture; None if it can."""
    if row["file"] is None:
        return "not from a web archive"
    if row["fetched_at"] is None:
        return "without a time"
    return None if row["length"] else "in a gzip member with other records, so that no offset leads to it"


def write_parquet(target: Path, rows: Iterable[Row], columns: Sequence[str]) -> RowsWritten:
    """Write a table with these columns, of the types that they have in record files."""
    with extra("parquet"):
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        from opensearch_winnow.mappings.record_columns import SCHEMA, SOURCE  # noqa: PLC0415
    of_source = {field.name: field.type for field in SOURCE}
    types = {name: of_source.get(name) or SCHEMA.field(name).type for name in columns}
    schema = pa.schema(types.items())
    count, rest = 0, iter(rows)
    with (
        reporting_os_errors(target),
        new_file(target) as path,
        pq.ParquetWriter(path, schema, compression="zstd") as writer,
    ):
        while some := list(islice(rest, ROWS_PER_GROUP)):
            columns_of = [pa.array([row[name] for row in some], kind) for name, kind in types.items()]
            writer.write_batch(pa.RecordBatch.from_arrays(columns_of, schema=schema))
            count += len(some)
    return RowsWritten(count, target.stat().st_size)


def _write_lines(target: Path | None, lines: Iterable[str]) -> RowsWritten:
    count = size = 0
    with nullcontext(sys.stdout.buffer) if target is None else open_new(target) as out:
        for line in lines:
            size += out.write(line.encode())
            count += 1
    return RowsWritten(count, size if target is None else target.stat().st_size)


def _csv_line(values: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()


def _plain(value: Any) -> Any:
    return written_time(value) if isinstance(value, datetime) else value


def sorted_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, each with its end, in order. Lines that do not fit into memory go through temporary files."""
    rest = iter(lines)
    first = sorted(islice(rest, LINES_IN_MEMORY))
    with ExitStack() as stack:
        runs: list[Iterable[str]] = [first]
        while some := sorted(islice(rest, LINES_IN_MEMORY)):
            run = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))
            run.writelines(some)
            run.seek(0)
            runs.append(run)
        yield from heapq.merge(*runs)
