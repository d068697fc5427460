"""Exports the records of a store to one record file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.record_columns import as_columns
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.record_files.atomic_parquet import AtomicParquet
from opensearch_winnow.stores.store import Store

BATCH_SIZE = 1_000  # records that become columns at a time


def export_records(
    store: Store, target: Path, where: Filters = Filters(), done: Callable[[int], object] | None = None
) -> int:
    """Write the records of `store` to `target` and return how many. `done` is called with the number so far."""
    return write_record_file(store.scan(Record, where), store.scheme, target, done)


def write_record_file(
    records: Iterator[Record], scheme: Scheme, target: Path, done: Callable[[int], object] | None = None
) -> int:
    """Write `records` to one record file, as `export_records` does."""
    out = AtomicParquet(target, written(scheme))
    try:
        for some in batches(records, BATCH_SIZE):
            out.write(as_columns(some))
            if done:
                done(out.rows)
        out.commit()
    except BaseException:
        out.discard()
        raise
    return out.rows
