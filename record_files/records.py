"""Reads the records of record files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.record_columns import as_records
from opensearch_winnow.mappings.written_scheme import other_scheme, written
from opensearch_winnow.record_files.filled_revisits import FilledRevisits
from opensearch_winnow.record_files.reader import latest_rows, record_files, scheme_of


def read_records(path: str | os.PathLike[str], scheme: Scheme | None = None) -> Iterator[Record]:
    """Yield the records of a file or folder, each capture once. Raises if they are of another scheme than `scheme`."""
    found = scheme_of(path)
    if scheme is not None and scheme.id != found.id:
        raise other_scheme(path, found, written(scheme))
    files = record_files(path)
    # The ids within a file differ. A run that was killed may have left a newer record of a capture in a later part.
    return read_rows(files, latest_rows(files) if len(files) > 1 else [None])


def read_rows(files: Sequence[Path], keep: Sequence[pa.BooleanArray | None]) -> Iterator[Record]:
    """Yield the records of the rows that `latest_rows` has chosen."""
    for batch in FilledRevisits.of(files).batches(keep):
        yield from as_records(batch)
