"""Writes a table of answers as JSON lines, CSV or Parquet, as the name of its file says."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.record_files.atomic_file import AtomicFile, cannot_be_written, reporting_os_errors

ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
ROWS_PER_GROUP = 20_000  # of Parquet

Columns = Mapping[str, Any]  # to each name its type: str, int, float; [type] for a list, {name: type} for an object


def check_table(target: Path, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or that exists and may not be replaced."""
    if not target.name.endswith(ENDINGS):
        raise RecordsError(f"{target}: name a file that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if target.is_dir() or not target.parent.is_dir():
        raise RecordsError(f"{target} cannot be written: name a file in a folder that exists")
    if target.exists() and not overwrite:
        raise RecordsError(f"{target} exists; name another file, or add --overwrite to replace it")


class AnswerTable(AbstractContextManager["AnswerTable"]):
    """A table that is written row by row. It appears when the context ends without an error.

    Usage:

        with AnswerTable(Path("found.csv"), {"id": str, "share": float}) as table:
            table.add("a1", 0.25)
    """

    def __init__(self, target: Path, columns: Columns, *, overwrite: bool = False) -> None:
        check_table(target, overwrite=overwrite)
        self.rows = 0
        self._target, self._columns = target, columns
        with reporting_os_errors(target):
            self._atomic = AtomicFile(target)
        try:
            if target.suffix == ".parquet":
                self._format: _Parquet | _Lines = _Parquet(self._atomic.path, columns)
            else:
                self._format = _Lines(self._atomic.path, columns, target.name)
        except BaseException:
            self._atomic.discard()
            raise

    def add(self, *values: Any) -> None:
        """Add a row: a value for each column, in order."""
        try:
            self._format.add(values)
        except OSError as error:
            raise cannot_be_written(self._target, error) from None
        self.rows += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with reporting_os_errors(self._target):
                    self._format.close()
                    self._atomic.place()
        finally:
            with suppress(OSError, ValueError):
                self._format.close()
            self._atomic.discard()


class _Lines:
    """JSON lines or CSV, compressed if the name ends in .gz."""

    def __init__(self, path: Path, columns: Columns, name: str) -> None:
        self._names = list(columns)
        self._csv = name.removesuffix(".gz").endswith(".csv")
        self._file = path.open("wb")
        self._out: BinaryIO = self._file
        if name.endswith(".gz"):  # without a name and a time in it: the same rows are the same bytes
            self._out = cast("BinaryIO", gzip.GzipFile("", "wb", 6, self._file, mtime=0))
        if self._csv:
            self._out.write(_csv_line(self._names))

    def add(self, values: tuple[Any, ...]) -> None:
        if self._csv:
            self._out.write(_csv_line([_cell(value) for value in values]))
        else:
            line = json.dumps(dict(zip(self._names, values, strict=True)), ensure_ascii=False)
            self._out.write(f"{line}\n".encode(errors="surrogatepass"))

    def close(self) -> None:
        self._out.close()
        self._file.close()


class _Parquet:
    def __init__(self, path: Path, columns: Columns) -> None:
        with extra("parquet"):
            import pyarrow as pa  # noqa: PLC0415 (an extra)
            import pyarrow.parquet as pq  # noqa: PLC0415

        def arrow(kind: Any) -> Any:
            if isinstance(kind, list):
                return pa.list_(arrow(kind[0]))
            if isinstance(kind, dict):
                return pa.struct([(name, arrow(each)) for name, each in kind.items()])
            return {str: pa.string(), int: pa.int64(), float: pa.float64()}[kind]

        self._batch = pa.RecordBatch
        self._array = pa.array
        self._schema = pa.schema([(name, arrow(kind)) for name, kind in columns.items()])
        self._waiting: list[tuple[Any, ...]] = []
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, values: tuple[Any, ...]) -> None:
        self._waiting.append(values)
        if len(self._waiting) == ROWS_PER_GROUP:
            self._write()

    def close(self) -> None:
        if self._writer.is_open:
            try:
                self._write()
            finally:
                self._writer.close()

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            arrays = [
                self._array(values, field.type)
                for values, field in zip(zip(*waiting, strict=True), self._schema, strict=True)
            ]
            self._writer.write_batch(self._batch.from_arrays(arrays, schema=self._schema))


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else escape_formula(value)


def _csv_line(values: list[Any]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue().encode(errors="surrogatepass")
