"""A temporary, uncompressed file of the columns that clustering reads, for pages that are not in record files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pyarrow as pa

from opensearch_winnow.clusters.duckdb_connection import reporting_duckdb_errors
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.record_files.reader import last_rows, numbered_ids

# The columns of a record without fingerprints, positions and others that clustering does not read.
COLUMNS = pa.schema(
    [
        SCHEMA.field(name)
        for name in (
            "id", "url", "site", "title", "text", "fetched_at", "content_digest", "text_digest", "shingle_digest",
            "shingle_count", "sketch", "minhash", "bands", "cluster", "canonical",
        )
    ]
)  # fmt: skip


class ColumnFile:
    """A file of batches. Add them, call `complete`, then read columns, each capture once, as from record files."""

    def __init__(self, path: Path, scheme: Scheme, schema: pa.Schema = COLUMNS) -> None:
        self.scheme = scheme
        self._schema = schema
        self._path = path
        self._counts: list[int] = []  # rows of each batch
        self._keep: pa.BooleanArray | None = None  # which rows to read; None for all
        with reporting_duckdb_errors(path.parent):
            self._file = pa.OSFile(str(path), "wb")
            self._writer = pa.ipc.new_file(self._file, schema)

    @property
    def rows(self) -> int:
        return sum(self._counts)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch with the columns of the schema."""
        if len(batch):
            with reporting_duckdb_errors(self._path.parent):
                self._writer.write_batch(batch)
            self._counts.append(len(batch))

    def complete(self, *, unique: bool) -> None:
        """Make the columns readable. Unless captures are `unique`, the last row of each counts."""
        self.close()
        if not unique:
            keep = last_rows(self._ids, self.rows)
            self._keep = None if keep.true_count == self.rows else keep

    def _ids(self) -> Iterator[pa.RecordBatch]:
        starts = accumulate(self._counts, initial=0)
        return (numbered_ids(batch.column("id"), row) for row, batch in zip(starts, self._batches("id"), strict=False))

    def columns(self, *names: str) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield batches of the named columns, each with the number of its first row."""
        row = 0
        bounds = pairwise(accumulate(self._counts, initial=0))
        for batch, (start, end) in zip(self._batches(*names), bounds, strict=True):
            chosen = batch if self._keep is None else batch.filter(self._keep.slice(start, end - start))
            yield row, chosen
            row += len(chosen)

    def _batches(self, *names: str) -> Iterator[pa.RecordBatch]:
        fields = pa.ipc.IpcReadOptions(included_fields=[self._schema.get_field_index(name) for name in names])
        # Read, not memory-mapped: the texts of a whole crawl would count as memory of this process.
        with pa.OSFile(str(self._path)) as file, pa.ipc.open_file(file, options=fields) as reader:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).select(names)

    def close(self) -> None:
        """Close the file. Closing again does nothing."""
        if not self._file.closed:
            with reporting_duckdb_errors(self._path.parent), self._file:
                self._writer.close()
