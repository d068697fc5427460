"""Reads columns of the records to cluster in batches, each capture once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import pyarrow as pa

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.written_scheme import other_scheme
from opensearch_winnow.record_files.filled_revisits import FilledRevisits
from opensearch_winnow.record_files.reader import latest_rows, record_files, scheme_of


class Scan(Protocol):
    """The input of clustering: columns of records, in the same order each time, each capture once."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of the hashes."""

    def columns(self, *names: str) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield batches of the named columns, each with the number of its first row."""


@dataclass(frozen=True, slots=True)
class RecordScan:
    """Record files of one scheme. Rows are numbered in order, and a row replaced by a later one is left out.

    Revisits have the texts of the pages that they repeat, in any of the files.
    """

    files: Sequence[Path]
    scheme: Scheme
    keep: Sequence[pa.BooleanArray | None]  # for each file which rows to read; None for all
    revisits: FilledRevisits

    @classmethod
    def of(cls, names: Sequence[str], key: str | None = None) -> Self:
        """Open record files and folders of them. All must have the same scheme."""
        scheme, *others = map(scheme_of, names)
        for name, other in zip(names[1:], others, strict=True):
            if other.id != scheme.id:
                raise other_scheme(name, other, scheme)
        files = [file for name in names for file in record_files(name)]
        keep = latest_rows(files) if len(files) > 1 else [None]
        return cls(files, scheme.scheme(key), keep, FilledRevisits.of(files))

    def columns(self, *names: str) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield batches of the named columns, each with the number of its first row."""
        row = 0
        for batch in self.revisits.batches(self.keep, names):
            yield row, batch
            row += len(batch)
