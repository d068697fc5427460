"""Writes the row groups of a Parquet file, and reports errors in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.foundation.atomic_file import cannot_be_written
from opensearch_winnow.foundation.errors import FileError


class ParquetSink:
    """A Parquet file that is being written to `path`, which will be renamed to `target`."""

    def __init__(self, path: Path, target: Path, schema: pa.Schema, **options: Any) -> None:
        self._target, self._schema = target, schema
        with reporting_write_errors(target):
            self._file = pa.OSFile(str(path), "wb")  # not in Python: Ctrl-C cannot interrupt a write
            self._writer = pq.ParquetWriter(self._file, schema, **options)

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write a row group."""
        with reporting_write_errors(self._target):
            rows = pa.Table.from_batches(batches, self._schema).unify_dictionaries()
            self._writer.write_table(rows, row_group_size=max(len(rows), 1))

    def close(self) -> None:
        """Complete the file. Calling this again does nothing."""
        with reporting_write_errors(self._target):
            self._writer.close()
            self._file.close()

    def abort(self) -> None:
        """Close the unfinished file, even after an error."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        self._writer.is_open = False  # otherwise it tries again, and complains, when it is collected
        with suppress(OSError):
            self._file.close()


@contextmanager
def reporting_write_errors(target: Path) -> Iterator[None]:
    """Raise a FileError instead of an error of the system or of Arrow about writing `target`."""
    try:
        yield
    except UnicodeEncodeError:
        raise FileError(f"{target}: Arrow cannot write to a name that is not UTF-8; choose another") from None
    except (pa.ArrowException, OSError) as error:
        raise cannot_be_written(target, error) from None
