"""The clusters of a store: its records are exported and clustered, and it is told which pages have another cluster."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from opensearch_winnow.clusters.asked import Clustering, Progress
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.clusters.run import How, cluster_records
from opensearch_winnow.clusters.work_folder import work_folder
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.stores.store import Store

TELLING = "telling the store"  # the phase in which it may know a part only
CLUSTERING = "clustering"  # the setting of a store that tells what the last one has found
LARGEST_SETTING = 64_000  # characters of it; titles and URLs may have any length
BATCH = 10_000  # pages whose clusters are told at a time


def cluster_store(store: Store, asked: Clustering, *, write_back: bool = True, **how: Unpack[How]) -> Found:
    """As `cluster_records` does it. With `write_back` the store is told, at the end, and keeps what was found."""
    with extra("spark" if how.get("engine") == "spark" else "cluster"):  # Arrow takes half a second, too
        from opensearch_winnow.stores.exported_records import export_records  # noqa: PLC0415

    start = time.monotonic()
    progress = how.get("progress") or (lambda _phase, _done, _total: None)
    with work_folder(how.get("work"), how.get("output")) as folder:
        records, changes = folder / "records.parquet", folder / "changes.parquet"
        how["work"] = str(folder)
        pages = store.count()
        export_records(store, records, done=lambda done: progress("reading the store", done, pages))
        found = cluster_records(
            [str(records)],
            asked,
            changes=str(changes) if write_back else None,
            key=store.scheme.key,
            **how,
        )
        if write_back:
            found.changed = _told(store, changes, progress)
    found.seconds = round(time.monotonic() - start, 3)
    if write_back:
        store.set_setting(CLUSTERING, _kept(found, asked))
    return found


def _kept(found: Found, asked: Clustering) -> dict[str, Any]:
    """Without the largest clusters, if they make it too large: the store lists them itself."""
    choices = {"threshold": asked.threshold, "linkage": asked.linkage, "fast": asked.fast}
    kept = (
        found.as_document() | choices | {"at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")}
    )
    if len(json.dumps(kept)) > LARGEST_SETTING:
        del kept["largest_clusters"]
    return kept


def _told(store: Store, changes: Path, progress: Progress) -> int:
    """The pages that got another cluster: how many they are."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    table = ds.dataset(changes, format="parquet")
    told, total = 0, table.count_rows()
    for batch in table.to_batches(batch_size=BATCH):
        progress(TELLING, told, total)
        told += store.set_clusters(dict(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
    return told
