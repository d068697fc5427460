"""Writes a record file, from columns, that appears only when it is complete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from opensearch_winnow.foundation.atomic_file import AtomicFile
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.mappings.record_metadata import METADATA, metadata_of
from opensearch_winnow.mappings.written_scheme import WrittenScheme
from opensearch_winnow.record_files.filled_revisits import FilledRevisits
from opensearch_winnow.record_files.parquet_sink import ParquetSink, reporting_write_errors

# Rows wait in memory up to this size, and take about twice as much while they are compressed. A reader has one row
# group in memory at a time, however large pages are.
ROW_GROUP_BYTES = 32_000_000


class AtomicParquet:
    """A Parquet file that is being written, under the hidden name of an `AtomicFile`."""

    def __init__(self, target: Path, scheme: WrittenScheme, suffix: str = "new", *, alone: bool = False) -> None:
        self.rows = 0
        self.size = 0  # bytes of all rows, as they were in memory
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_size = 0
        with reporting_write_errors(target):
            self._atomic = AtomicFile(target, suffix, alone=alone)
        try:
            self._sink = ParquetSink(
                self._atomic.path,
                target,
                SCHEMA.with_metadata({METADATA: metadata_of(scheme)}),
                # Figures in docs/records.md. Hashes do not repeat: a dictionary of them would be longer.
                compression="zstd",
                compression_level={"text": 3},
                use_dictionary=["site", "crawl", "duplicate", "source.file", "source.record_type", "source.mime"],
                column_encoding={"positions.list.element": "DELTA_BINARY_PACKED"},
                write_statistics=["id", "url", "site", "crawl", "fetched_at", "cluster"],
                write_page_checksum=True,
            )
        except BaseException:
            self._atomic.discard()
            raise

    @property
    def path(self) -> Path:
        """The hidden path, until the file is committed."""
        return self._atomic.path

    def write(self, batch: pa.RecordBatch) -> None:
        self.rows += len(batch)  # first: after Ctrl-C there may be fewer rows than counted, but never more
        self.size += batch.nbytes
        self._waiting.append(batch)
        self._waiting_size += batch.nbytes
        if self._waiting_size >= ROW_GROUP_BYTES:
            self._write_row_group()

    def write_all(self, files: Sequence[Path], keep: Sequence[pa.BooleanArray]) -> None:
        """Write the rows of other files for which `keep` is true, with texts for revisits."""
        for batch in FilledRevisits.of(files).batches(keep):
            self.write(batch)

    def finish(self) -> None:
        """Complete the file without committing it. Calling this again does nothing."""
        if self._waiting:
            self._write_row_group()
        self._sink.close()

    def commit(self) -> None:
        self.finish()
        with reporting_write_errors(self._atomic.target):
            self._atomic.commit()

    def discard(self) -> None:
        """Remove the unfinished file, even after an error. Does nothing after `commit`."""
        self._sink.abort()
        self._atomic.discard()

    def _write_row_group(self) -> None:
        self._sink.write(self._waiting)
        self._waiting, self._waiting_size = [], 0


def merge_files(
    files: Sequence[Path], keep: Sequence[pa.BooleanArray], target: Path, scheme: WrittenScheme, suffix: str = "new"
) -> int:
    """Write the rows of `files` for which `keep` is true to `target`, replacing it, and return their number."""
    out = AtomicParquet(target, scheme, suffix)
    try:
        out.write_all(files, keep)
        out.commit()
    except BaseException:
        out.discard()
        raise
    return out.rows
