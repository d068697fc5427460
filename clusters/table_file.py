"""A table in a Parquet file, which nobody sees before it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.mappings.record_metadata import METADATA
from opensearch_winnow.record_files.atomic_file import AtomicFile
from opensearch_winnow.record_files.atomic_parquet import reporting_write_errors


class TableFile:
    """Opened before the work is done: what cannot be written is best known soon."""

    def __init__(self, target: Path, schema: pa.Schema, about: dict[str, Any], *, overwrite: bool = False) -> None:
        if target.is_dir():
            raise ClusterError(f"{target} is a folder; name a file")
        if target.exists() and not overwrite:
            raise ClusterError(f"{target} exists; name another file, or add --overwrite to replace it")
        self._target = target
        self._schema = schema.with_metadata({METADATA: json.dumps(about).encode()})
        with reporting_write_errors(target):
            self._hidden = AtomicFile(target)

    def write(self, batches: Iterable[pa.RecordBatch]) -> int:
        """All of it: how many rows there are."""
        rows = 0
        with (
            reporting_write_errors(self._target),
            pq.ParquetWriter(self._hidden.path, self._schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for batch in batches:
                writer.write_table(pa.Table.from_batches([batch]).rename_columns(self._schema.names).cast(self._schema))
                rows += len(batch)
        return rows

    def place(self) -> None:
        with reporting_write_errors(self._target):
            self._hidden.place()

    def discard(self) -> None:
        """Leave no trace. Does nothing after `place`."""
        with suppress(OSError):
            self._hidden.discard()
