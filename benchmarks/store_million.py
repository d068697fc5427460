"""The questions of `store`, with up to a million generated records. It takes 25 minutes and 14 GB."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.store import growing
from benchmarks.table import Run, Table

SIZES = (10_000, 100_000, 1_000_000)


def tables(run: Run) -> Iterator[Table]:
    yield from growing(run, SIZES)
