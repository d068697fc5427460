"""Exports the records of a store to one record file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

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
    records = store.scan(Record, where)
    out = AtomicParquet(target, written(store.scheme))
    try:
        while some := list(islice(records, BATCH_SIZE)):
            out.write(as_columns(some))
            if done:
                done(out.rows)
        out.place()
    except BaseException:
        out.discard()
        raise
    return out.rows
