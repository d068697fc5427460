"""Reads record files: one Parquet file, or the parts in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.record_columns import can_be_completed, completed
from opensearch_winnow.mappings.record_metadata import parse_metadata
from opensearch_winnow.mappings.written_scheme import WrittenScheme

MAX_BATCH_ROWS = 1_000  # a row group may have fewer, because it is bounded in bytes
MAX_IDS_PER_PASS = 1_000_000  # some 300 bytes of memory each
PART_NAME = re.compile(r"part-(\d{5,})\.parquet")


def scheme_of(path: str | os.PathLike[str]) -> WrittenScheme:
    """Return the scheme of a record file, or of all parts of a folder."""
    first, *others = map(scheme_of_file, record_files(path))
    for other in others:
        if other.id != first.id:
            raise RecordsError(f"{path} has parts of two schemes, {first.id} and {other.id}; keep them in two folders")
    return first


def scheme_of_file(file: Path | str, footer: IO[bytes] | None = None) -> WrittenScheme:
    """Return the scheme of one file. `footer` is the end of a file that is not on this machine."""
    with open_parquet(file, footer) as parquet:
        scheme = parse_metadata(parquet.metadata.metadata or {}, file)
        if not can_be_completed(parquet.schema_arrow):
            raise RecordsError(f"{file} does not have the columns of a record file; did another program write it?")
    return scheme


def record_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file itself, or the parts of a folder in the order they were written; at least one."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = parts(path)
    if not files:
        raise FileError(f"{path} has no record files: a folder of records has files part-00000.parquet and on")
    return files


def parts(folder: Path) -> list[Path]:
    """Return the record files of a folder in the order they were written."""
    shown = [file for file in folder.glob("*.parquet") if not file.name.startswith((".", "_"))]
    return sorted(shown, key=lambda file: (part_number(file), file.name))


def part_number(file: Path) -> int:
    """Return the number in the name of a part, or -1 if the name has another form."""
    match = PART_NAME.fullmatch(file.name)
    return int(match[1]) if match else -1


@contextmanager
def open_parquet(file: Path | str, content: IO[bytes] | None = None) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, or the part of it in `content`. All errors are reported in one sentence, those about the
    content as a RecordsError.
    """
    try:
        with pq.ParquetFile(content or file, page_checksum_verification=True) as parquet:
            yield parquet
    except FileNotFoundError:
        raise FileError(f"there is no record file {file}") from None
    except PermissionError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeEncodeError:
        raise FileError(f"{file} has a name that is not UTF-8, which Arrow cannot open: rename it") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise RecordsError(f"{file} cannot be read as a record file, or is damaged: {reason}") from None


def batches(
    file: Path, keep: pa.BooleanArray | None = None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches; with `keep`, those for which it is true."""
    row = 0
    with open_parquet(file) as parquet:
        for batch in _batches(parquet, columns):
            chosen = batch if keep is None else batch.filter(keep.slice(row, len(batch)))
            row += len(batch)
            if len(chosen):
                yield completed(chosen, columns)


def _batches(parquet: pq.ParquetFile, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    rows = 0
    # Group by group: otherwise Arrow fills a batch from several row groups.
    for group in range(parquet.num_row_groups):
        for batch in parquet.iter_batches(batch_size=MAX_BATCH_ROWS, row_groups=[group], columns=columns):
            rows += len(batch)
            yield batch
    if rows != parquet.metadata.num_rows:  # data pages have checksums, but the list of data pages has none
        raise ValueError(f"it has {rows} rows instead of {parquet.metadata.num_rows}")


def latest_rows(files: Sequence[Path], **wanted: str | None) -> list[pa.BooleanArray]:
    """Return a mask for each file: true for a row whose id is in no later row.

    `wanted` has values of columns; rows with other values are left out.
    """
    starts = [0]
    for file in files:
        with open_parquet(file) as parquet:
            starts.append(starts[-1] + parquet.metadata.num_rows)
    flags = last_rows(
        lambda: (ids for file, row in zip(files, starts, strict=False) for ids in _ids(file, row, wanted)), starts[-1]
    )
    return [flags.slice(start, end - start) for start, end in pairwise(starts)]


def last_rows(ids: Callable[[], Iterable[pa.RecordBatch]], total: int) -> pa.BooleanArray:
    """Return a mask of `total` rows: true for the last row with its id. `ids` yields the columns `id` and `row`."""
    counts = bytearray(total)
    passes = min(total // MAX_IDS_PER_PASS + 1, 16)
    for turn in range(passes):
        digits = pa.array("0123456789abcdef"[turn::passes])
        pieces = [
            each.filter(pc.is_in(pc.utf8_slice_codeunits(each.column("id"), 0, 1), value_set=digits)) for each in ids()
        ]
        if pieces:
            table = pa.Table.from_batches(pieces)
            last = table.group_by("id", use_threads=False).aggregate([("row", "max")])["row_max"]
            for row in last.to_pylist():
                counts[row] = 1
    return pa.Array.from_buffers(pa.uint8(), total, [None, pa.py_buffer(counts)]).cast(pa.bool_())


def numbered_ids(ids: pa.Array, row: int) -> pa.RecordBatch:
    """Return ids with the numbers of their rows, counted from `row`."""
    return pa.record_batch([ids, pa.array(range(row, row + len(ids)), pa.int64())], names=["id", "row"])


def _ids(file: Path, row: int, wanted: dict[str, str | None]) -> Iterator[pa.RecordBatch]:
    """Yield the ids of the rows that have the `wanted` values, with the numbers of these rows, counted from `row`."""
    values = {name: value for name, value in wanted.items() if value is not None}
    with open_parquet(file) as parquet:
        for batch in _batches(parquet, ["id", *values]):
            ids = numbered_ids(batch.column("id"), row)
            row += len(batch)
            for name, value in values.items():
                chosen = pc.equal(batch.column(name), value)
                ids, batch = ids.filter(chosen), batch.filter(chosen)
            yield ids


def read_columns(path: str | os.PathLike[str], *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the columns `names` of each row; quick for small columns. A folder may have two rows with one id."""
    scheme_of(path)
    return (row for file in record_files(path) for row in _rows(file, names))


def _rows(file: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    with open_parquet(file) as parquet:
        for batch in _batches(parquet, names):
            yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)
