"""Writes rows of Parquet: the same schema, metadata and compression, with columns added.

Where a row group is damaged, each row that cannot be read fails. Where the whole file is, it is one failed row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.rows.row_writer import NextEdit, as_written, other_columns, reading
from opensearch_winnow.ingest.sources import SourceError, UnreadableError, printable
from opensearch_winnow.ingest.sources.page_fields import FieldError, content_field
from opensearch_winnow.ingest.sources.parquet import batches, columns_of, opened_parquet, read_fields
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import SourceFile
from opensearch_winnow.record_files.parquet_sink import ParquetSink

ROW_GROUP_BYTES = 32_000_000  # as they are in memory: rows wait up to this size
MAX_COPIED_ROWS = 4_096  # in a batch that is copied

_TYPES: dict[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def writer(
    path: Path,
    target: Path,
    packing: str,  # noqa: ARG001 (its columns are compressed)
    choice: RowChoice,
    columns: Mapping[str, type],
) -> ParquetRowsWriter:
    return ParquetRowsWriter(path, target, choice, columns)


class ParquetRowsWriter:
    """Writes rows to a Parquet file. The first file that is added decides on the schema."""

    def __init__(self, path: Path, target: Path, choice: RowChoice, columns: Mapping[str, type]) -> None:
        self.rows = 0
        self._path, self._target, self._choice = path, target, choice
        self._added = {name: _TYPES[kind] for name, kind in columns.items()}
        self._schema: pa.Schema | None = None  # of the sources
        self._first: SourceFile | None = None
        self._sink: ParquetSink | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_size = 0

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        with reading(file), open(file.path, "rb") as opened:  # noqa: PTH123
            try:
                columns_of(file.path)
                table = opened_parquet(opened)
            except (UnreadableError, pa.ArrowException) as error:
                if next_edit() is not None:
                    raise SourceError(f"{printable(file.path)} cannot be written again: {error}") from None
                return
            self._open(table, file)
            for row_group in range(table.metadata.num_row_groups):
                left = table.metadata.row_group(row_group).num_rows
                for batch in batches(table, row_group, None, MAX_COPIED_ROWS):
                    left -= batch.num_rows
                    self._add_batch(batch, [next_edit() for _ in range(batch.num_rows)])
                if sum(next_edit() is not None for _ in range(left)):  # decides on all of them
                    raise SourceError(f"{printable(file.path)} cannot be written again: it is damaged")

    def _open(self, table: pq.ParquetFile, file: SourceFile) -> None:
        schema = table.schema_arrow
        if self._schema is not None:
            if self._first and not schema.equals(self._schema):
                raise other_columns(file, self._first)
            return
        self._schema, self._first = schema, file
        written = self._new_schema(schema)
        self._sink = ParquetSink(self._path, self._target, written, compression=self._compression(table))

    def _new_schema(self, schema: pa.Schema) -> pa.Schema:
        for name, kind in self._added.items():
            index = schema.get_field_index(name)
            field = pa.field(name, kind)
            schema = schema.append(field) if index < 0 else schema.set(index, field)
        return schema

    def _compression(self, table: pq.ParquetFile) -> dict[str, str] | str:
        """Return the compression of each column: that in the first row group."""
        if not table.metadata.num_row_groups:
            return "snappy"
        group = table.metadata.row_group(0)
        chunks = [group.column(i) for i in range(group.num_columns)]
        used = {chunk.path_in_schema: chunk.compression.lower().replace("uncompressed", "none") for chunk in chunks}
        return dict.fromkeys(self._added, next(iter(used.values()))) | used

    def _add_batch(self, batch: pa.RecordBatch, edits: list[Edit | None]) -> None:
        kept = [number for number, edit in enumerate(edits) if edit is not None]
        if not kept:
            return
        texts: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for number in kept:
            edit = edits[number]
            if edit is not None and edit.text is not None:
                with suppress(FieldError):
                    texts[self._content_column(batch, number)][number] = edit.text
        for name, changed in texts.items():
            batch = _with_texts(batch, name, changed)
        if len(kept) < batch.num_rows:
            batch = _rows_of(batch, kept)
        for name, kind in self._added.items():
            values = pa.array([edit.columns.get(name) for edit in edits if edit is not None], kind)
            index = batch.schema.get_field_index(name)
            field = pa.field(name, kind)
            batch = batch.append_column(field, values) if index < 0 else batch.set_column(index, field, values)
        self.rows += batch.num_rows
        self._waiting.append(batch)
        self._waiting_size += batch.nbytes
        if self._waiting_size >= ROW_GROUP_BYTES:
            self._write_row_group()

    def _content_column(self, batch: pa.RecordBatch, number: int) -> str:
        fields: dict[str, object] = {}
        wanted = self._choice.fields.columns(batch.schema.names)
        read_fields(batch, number, self._choice.max_size, wanted, fields)
        return content_field(fields, self._choice.fields)

    def _write_row_group(self) -> None:
        assert self._sink
        self._sink.write(self._waiting)
        self._waiting, self._waiting_size = [], 0

    def close(self) -> None:
        if self._sink is None:
            raise SourceError(f"{self._target} cannot be written: no source could be read")
        if self._waiting:
            self._write_row_group()
        self._sink.close()

    def abort(self) -> None:
        if self._sink is not None:
            self._sink.abort()


def _rows_of(batch: pa.RecordBatch, numbers: Sequence[int]) -> pa.RecordBatch:
    try:
        return batch.take(pa.array(numbers))
    except pa.ArrowNotImplementedError:  # of views of strings, in Arrow 26
        return pa.concat_batches([batch.slice(number, 1) for number in numbers])


def _with_texts(batch: pa.RecordBatch, name: str, texts: Mapping[int, str]) -> pa.RecordBatch:
    """Return `batch` with other texts in the field `name`, in rows by number."""
    first, *inner = [name] if name in batch.schema.names else name.split(".")
    column, index = batch.column(first), batch.schema.get_field_index(first)
    written = {number: as_written(name, text) for number, text in texts.items()}
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        # Without decoding the others: Parquet does not check that strings are UTF-8.
        mask = pa.array([number in written for number in range(len(column))])
        changed = pc.replace_with_mask(column, mask, pa.array(written.values(), column.type))
    else:
        values = column.to_pylist()
        for number, text in written.items():
            values[number] = _replaced(values[number], inner, text)
        changed = pa.array(values, column.type)
    return batch.set_column(index, batch.schema.field(index), changed)


def _replaced(value: object, inner: Sequence[str], text: str) -> object:
    if inner:
        assert isinstance(value, dict)
        return {**value, inner[0]: _replaced(value[inner[0]], inner[1:], text)}
    return text.encode() if isinstance(value, bytes) else text
