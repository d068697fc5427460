"""Writes a table to a Parquet file that appears only when it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.foundation.atomic_file import AtomicFile, check_output
from opensearch_winnow.mappings.record_metadata import METADATA
from opensearch_winnow.record_files.parquet_sink import reporting_write_errors


class TableFile:
    """A Parquet file to write. It is opened before the work starts, so that a wrong path is reported at once."""

    def __init__(self, target: Path, schema: pa.Schema, metadata: dict[str, Any], *, overwrite: bool = False) -> None:
        check_output(target, overwrite=overwrite)
        self._target = target
        self._schema = schema.with_metadata({METADATA: json.dumps(metadata).encode()})
        with reporting_write_errors(target):
            self._hidden = AtomicFile(target)

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the whole table."""
        with (
            reporting_write_errors(self._target),
            pq.ParquetWriter(self._hidden.path, self._schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for batch in batches:
                writer.write_table(pa.Table.from_batches([batch]).rename_columns(self._schema.names).cast(self._schema))

    def commit(self) -> None:
        """Make the file appear under its name."""
        with reporting_write_errors(self._target):
            self._hidden.commit()

    def discard(self) -> None:
        """Remove the unfinished file. Does nothing after `commit`."""
        with suppress(OSError):
            self._hidden.discard()
