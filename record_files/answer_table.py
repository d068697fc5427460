"""Writes a table of answers as JSON lines, CSV or Parquet, depending on the name of its file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from opensearch_winnow.foundation.answer_keys import whole_columns_of
from opensearch_winnow.foundation.answers import Answer
from opensearch_winnow.foundation.atomic_file import AtomicFile, check_output, reporting_os_errors
from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.packed import PACKINGS, close_unfinished, open_packed

FORMATS = (".jsonl", ".csv", ".parquet")
ENDINGS = (*FORMATS, *(f"{lines}{packing}" for lines in FORMATS[:2] for packing in PACKINGS))
ROWS_PER_GROUP = 20_000  # of Parquet

Columns = Mapping[str, Any]  # by name: str, int, float or bool; [type] for a list, {name: type} for an object


def check_table(target: Path, *, overwrite: bool, more: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be written, or that exists and may not be replaced. `more` are further endings."""
    if not target.name.lower().endswith((*more, *ENDINGS)):
        *names, last = (*more, *FORMATS)
        raise FileError(
            f"{target}: name a file that ends in {', '.join(names)} or {last}; .jsonl and .csv also with .gz or .zst"
        )
    check_output(target, overwrite=overwrite)


class AnswerTable(AbstractContextManager["AnswerTable"]):
    """A table that is written row by row. It appears when the context ends without an error.

    Usage:

        with AnswerTable(Path("found.csv"), {"id": str, "share": float}) as table:
            table.add("a1", 0.25)
    """

    def __init__(self, target: Path, columns: Columns, *, overwrite: bool = False) -> None:
        check_table(target, overwrite=overwrite)
        self.rows = 0
        self._target = target
        with reporting_os_errors(target):
            self._atomic = AtomicFile(target)
        try:
            kind = _Parquet if target.suffix.lower() == ".parquet" else _LineFormat
            self._format: _Parquet | _LineFormat = kind(self._atomic.path, target, columns)
        except BaseException:
            self._atomic.discard()
            raise

    @classmethod
    def of(cls, target: Path, row: type, *, overwrite: bool = False) -> Self:
        """Open a table of answers of the class `row`, with a column for each of its keys."""
        return cls(target, whole_columns_of(row), overwrite=overwrite)

    @property
    def is_json(self) -> bool:
        """True if the table is JSON lines."""
        return isinstance(self._format, _LineFormat) and not self._format.csv

    def add(self, *values: Any) -> None:
        """Add a row: a value for each column, in order."""
        self._format.add(values)
        self.rows += 1

    def add_answer(self, answer: Answer) -> None:
        """Add an answer as a row."""
        self.add(*answer.to_dict().values())

    def add_object(self, values: Mapping[str, Any]) -> None:
        """Add a line whose names need not be those of the columns. Only JSON lines can have one."""
        assert isinstance(self._format, _LineFormat)
        self._format.add_object(values)
        self.rows += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._format.close()
                with reporting_os_errors(self._target):
                    self._atomic.commit()
        finally:
            self._format.abort()
            self._atomic.discard()


class _LineFormat:
    """JSON lines or CSV, compressed if the name says so."""

    def __init__(self, path: Path, target: Path, columns: Columns) -> None:
        name = target.name.lower()
        self._names = list(columns)
        self.csv = ".csv" in Path(name).suffixes[-2:]
        self._file = open_packed(path, next(filter(name.endswith, PACKINGS), ""), target)
        if self.csv:
            self._file.write(_csv_line(self._names))

    def add(self, values: tuple[Any, ...]) -> None:
        if self.csv:
            self._file.write(_csv_line([_cell(value) for value in values]))
        else:
            self.add_object(dict(zip(self._names, values, strict=True)))

    def add_object(self, values: Mapping[str, Any]) -> None:
        # The name of a file may contain a lone surrogate, which becomes an escape of JSON.
        self._file.write(f"{json.dumps(values, ensure_ascii=False)}\n".encode(errors="backslashreplace"))

    def close(self) -> None:
        self._file.close()

    def abort(self) -> None:
        close_unfinished(self._file)


class _Parquet:
    def __init__(self, path: Path, target: Path, columns: Columns) -> None:
        with extra("parquet"):
            import pyarrow as pa  # noqa: PLC0415 (an extra)

            from opensearch_winnow.record_files.parquet_sink import ParquetSink  # noqa: PLC0415

        def arrow(kind: Any) -> Any:
            if isinstance(kind, list):
                return pa.list_(arrow(kind[0]))
            if isinstance(kind, dict):
                return pa.struct([(name, arrow(each)) for name, each in kind.items()])
            return {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}[kind]

        self._batch = pa.RecordBatch.from_arrays
        self._array = pa.array
        self._schema = pa.schema([(name, arrow(kind)) for name, kind in columns.items()])
        self._waiting: list[tuple[Any, ...]] = []
        self._sink = ParquetSink(path, target, self._schema, compression="zstd")

    def add(self, values: tuple[Any, ...]) -> None:
        self._waiting.append(values)
        if len(self._waiting) == ROWS_PER_GROUP:
            self._write()

    def close(self) -> None:
        if self._waiting:
            self._write()
        self._sink.close()

    def abort(self) -> None:
        self._sink.abort()

    def _write(self) -> None:
        try:
            arrays = self._arrays(self._waiting)
        except UnicodeEncodeError:
            arrays = self._arrays([_escaped(row) for row in self._waiting])
        self._sink.write([self._batch(arrays, schema=self._schema)])
        self._waiting = []

    def _arrays(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        columns = zip(zip(*rows, strict=True), self._schema, strict=True)
        return [self._array(values, field.type) for values, field in columns]


def _escaped(value: Any) -> Any:
    """Return a value with escapes for lone surrogates, which names of files may contain."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _escaped(each) for name, each in value.items()}
    return type(value)(map(_escaped, value)) if isinstance(value, (list, tuple)) else value


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else escape_formula(value)


def _csv_line(values: list[Any]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue().encode(errors="backslashreplace")
