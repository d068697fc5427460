"""Clusters the pages of a store: reads its records, clusters them, and writes changed clusters back to the store."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from errno import ENOSPC
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult, LastClustering
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.clusters.work_folder import full, work_folder
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.clusters.left_clusters import CLUSTERING, cluster_what_is_left, refresh_largest
from opensearch_winnow.stores.last_deletion import last_deletion
from opensearch_winnow.stores.store import RemoteStore, Store

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

WRITING_BACK = "updating the store"  # the phase in which a stopped run leaves the store partly updated
MAX_SETTING_CHARS = 64_000  # of that setting as JSON; titles and URLs may have any length
READING = "reading the store"
READ_SIZE = 1_000  # records that become columns at a time
BATCH_SIZE = 2_000  # pages whose clusters are written back at a time


def cluster_store(
    store: Store,
    options: ClusteringOptions,
    settings: RunSettings = RunSettings(),
    *,
    write_back: bool = True,
) -> ClusteringResult:
    """Cluster the pages of `store`, and write the tables that `settings` names.

    With `write_back`, the store gets the clusters that changed, and the result as a setting, at the end of the run.
    """
    start = time.monotonic()
    deletion = last_deletion(store)
    locked = store.clustering() if write_back and isinstance(store, RemoteStore) else nullcontext()
    with work_folder(settings) as folder, locked:
        changes = folder / "changes.parquet"
        in_folder = replace(
            settings, work=str(folder), changes=str(changes) if write_back else None, key=store.scheme.key
        )
        cluster = _cluster_columns if settings.engine == "duckdb" else _cluster_exported
        result = cluster(store, options, in_folder)
        if write_back:
            result = replace(result, changed=_write_back(store, changes, settings))
        result = replace(result, seconds=round(time.monotonic() - start, 3))
        if write_back:
            store.settings.set({CLUSTERING: _as_setting(result, options)})
            if last_deletion(store) != deletion:
                _forget_deleted(store, changes)
    return result


def _cluster_columns(store: Store, options: ClusteringOptions, settings: RunSettings) -> ClusteringResult:
    """Cluster the store from the necessary columns, without an intermediate record file."""
    with extra("cluster"):  # imported here, because Arrow takes half a second to load
        from opensearch_winnow.clusters.column_file import COLUMNS  # noqa: PLC0415
        from opensearch_winnow.clusters.on_duckdb import cluster_columns  # noqa: PLC0415
        from opensearch_winnow.mappings.record_columns import as_columns  # noqa: PLC0415

    def batches() -> Iterator[pa.RecordBatch]:
        pages, done = store.count(), 0
        records = store.scan(Record)
        while some := list(islice(records, READ_SIZE)):
            yield as_columns(some, COLUMNS)
            done += len(some)
            settings.report(READING, done, pages)

    return cluster_columns(batches(), store.scheme, options, settings, unique=True)


def _cluster_exported(store: Store, options: ClusteringOptions, settings: RunSettings) -> ClusteringResult:
    """Cluster a record file of the store, which Spark can read."""
    with extra("spark"):
        from opensearch_winnow.stores.exported_records import export_records  # noqa: PLC0415

    assert settings.work is not None
    folder = Path(settings.work)
    pages = store.count()
    try:
        export_records(store, folder / "records.parquet", done=lambda done: settings.report(READING, done, pages))
    except FileError as error:
        if os.strerror(ENOSPC) in str(error):
            raise full(folder) from None
        raise
    return cluster_records([str(folder / "records.parquet")], options, settings)


def _as_setting(result: ClusteringResult, options: ClusteringOptions) -> dict[str, Any]:
    """Return result and options, without the largest clusters if these are too long: the store can list them."""
    setting = LastClustering.of(result, options).to_dict()
    if len(json.dumps(setting)) > MAX_SETTING_CHARS:
        del setting["largest_clusters"]
    return setting


def _write_back(store: Store, changes: Path, settings: RunSettings) -> int:
    """Write the table of changed clusters to the store, and return the number of changed pages."""
    changed, total = 0, _table(changes).count_rows()
    for clusters in _batches(changes):
        settings.report(WRITING_BACK, changed, total)
        changed += store.set_clusters(clusters)
    return changed


def _forget_deleted(store: Store, changes: Path) -> None:
    """Cluster pages again whose representative was deleted during the run, and list the largest clusters again.

    A deletion does the same when it ends, but that may have been before the run has written its clusters.
    """
    for clusters in _batches(changes):
        representatives = set(clusters.values())
        cluster_what_is_left(store, sorted(representatives.difference(store.read(representatives, Card))), ())
    refresh_largest(store)


def _batches(changes: Path) -> Iterator[dict[str, str]]:
    """Yield the clusters of pages by id, some at a time."""
    for batch in _table(changes).to_batches(batch_size=BATCH_SIZE):
        yield dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _table(changes: Path) -> ds.Dataset:
    import pyarrow.dataset as ds  # noqa: PLC0415

    return ds.dataset(changes, format="parquet")
