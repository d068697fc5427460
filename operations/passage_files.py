"""Writes where the repeated passages of a set are: as a table, or in attribute files that are aligned with the rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, Protocol

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.ingest.rows import FailedRow, Row
from opensearch_winnow.ingest.rows.output import FolderOutput, check_output, name_packing
from opensearch_winnow.ingest.rows.row_format import RowChoice
from opensearch_winnow.ingest.sources.split import SourceFile
from opensearch_winnow.record_files.atomic_file import AtomicFile, reporting_os_errors
from opensearch_winnow.record_files.packed import open_packed

if TYPE_CHECKING:
    import pyarrow as pa

    from opensearch_winnow.operations.repeated_passages import RepeatedPassage

ATTRIBUTE = "repeated_passages"
JSON_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
PARQUET = ".parquet"
PASSAGES_PER_ROW_GROUP = 100_000  # 8 MB in memory, with ids of 50 characters

IsSource = Callable[[str], bool]


class PassageOutput(Protocol):
    """A file or folder that lists passages. It appears when it is complete."""

    def add(self, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
        """Add the passages of the next row; a row that has none is added too."""

    def place(self) -> None:
        """Complete what was written, and put it in place."""

    def discard(self) -> None:
        """Remove what was written. Does nothing after `place`."""


def passage_table(target: Path, is_source: IsSource, *, overwrite: bool) -> PassageOutput:
    """Open a table of passages: JSON lines or Parquet, as the name says."""
    if not target.name.lower().endswith((*JSON_LINES, PARQUET)):
        raise WinnowError(f"{target} is a table of passages: its name must end in {', '.join((*JSON_LINES, PARQUET))}")
    check_output(target, is_source, overwrite=overwrite)
    return (ParquetTable if target.name.lower().endswith(PARQUET) else JsonTable)(target)


class JsonTable:
    """A JSON line for each passage: the number of its row, the id, start, end and count."""

    def __init__(self, target: Path) -> None:
        with reporting_os_errors(target):
            self._atomic = AtomicFile(target)
        self._file = open_packed(self._atomic.path, name_packing(target.name) or "", target)

    def add(self, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
        for start, end, count in passages:
            assert isinstance(row, Row)
            line = {"row": row.number, "id": row.page.url, "start": start, "end": end, "count": count}
            self._file.write(json.dumps(line).encode() + b"\n")

    def place(self) -> None:
        self._file.close()
        with reporting_os_errors(self._atomic.target):
            self._atomic.place()

    def discard(self) -> None:
        _abort(self._file)
        self._atomic.discard()


class ParquetTable:
    """The same as a Parquet file."""

    def __init__(self, target: Path) -> None:
        with extra("parquet"):
            import pyarrow as pa  # noqa: PLC0415 (an extra)
            import pyarrow.parquet as pq  # noqa: PLC0415

            from opensearch_winnow.record_files.atomic_parquet import reporting_write_errors  # noqa: PLC0415
        types = {"row": pa.int64(), "id": pa.string(), "start": pa.int64(), "end": pa.int64(), "count": pa.int64()}
        self._schema: pa.Schema = pa.schema(types.items())
        self._waiting: list[tuple[int, str, int, int, int]] = []
        self._reporting = reporting_write_errors
        self._batch = pa.RecordBatch.from_arrays
        self._array = pa.array
        with self._reporting(target):
            self._atomic = AtomicFile(target)
            self._sink = pa.OSFile(str(self._atomic.path), "wb")
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression="zstd")

    def add(self, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
        for start, end, count in passages:
            assert isinstance(row, Row)
            self._waiting.append((row.number, row.page.url, start, end, count))
        if len(self._waiting) >= PASSAGES_PER_ROW_GROUP:
            self._write_row_group()

    def _write_row_group(self) -> None:
        columns = zip(*self._waiting, strict=True)
        arrays = [self._array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        with self._reporting(self._atomic.target):
            self._writer.write_batch(self._batch(arrays, schema=self._schema))
        self._waiting = []

    def place(self) -> None:
        if self._waiting:
            self._write_row_group()
        with self._reporting(self._atomic.target):
            self._writer.close()
            self._sink.close()
            self._atomic.place()

    def discard(self) -> None:
        try:
            with self._reporting(self._atomic.target):
                self._writer.close()
                self._sink.close()
        except WinnowError:
            self._writer.is_open = False  # or it would try again, and complain, when it is collected
        self._atomic.discard()


class AttributeFiles:
    """A folder with a file for each file of the sources, of the same name, with a JSON line for each row.

    These are attributes as Dolma's tools read them. Where a source is not JSON lines, `.jsonl` is added to its name.
    """

    def __init__(self, target: Path, is_source: IsSource, *, overwrite: bool) -> None:
        self._folder = FolderOutput(target, _no_format, RowChoice(), {}, is_source, overwrite=overwrite)
        self._file: IO[bytes] | None = None
        self._path = self._target = target

    def begin(self, file: SourceFile) -> None:
        """Begin the attributes of the next file."""
        self._end()
        name = file.name if file.format == "jsonl" else f"{file.name}{JSON_LINES[0]}"
        self._path, self._target = self._folder.path_of(name)
        self._file = open_packed(self._path, name_packing(name) or "", self._target)

    def add(self, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
        """Add the line of the next row. That of a failed row has no id and no passages."""
        assert self._file is not None
        line = {"id": _id(row), "attributes": {ATTRIBUTE: passages}}
        self._file.write(json.dumps(line).encode() + b"\n")

    def place(self) -> None:
        self._end()
        self._folder.place()

    def discard(self) -> None:
        if self._file:
            _abort(self._file)
        self._folder.discard()

    def _end(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
            with reporting_os_errors(self._target), self._path.open("rb") as written:
                os.fsync(written.fileno())


def _id(row: Row | FailedRow) -> object:
    """Return the id that the row itself has, as it is: Dolma compares them."""
    if isinstance(row, FailedRow):
        return None
    return row.value if isinstance(row.value, (str, int)) else row.page.url


def _abort(file: IO[bytes]) -> None:
    with suppress(WinnowError):
        file.close()


def _no_format(file: SourceFile) -> NoReturn:
    raise AssertionError(f"attributes of {file.name} are not written as rows")
