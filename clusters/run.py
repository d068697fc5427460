"""Clusters of record files, by the engine that is asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from opensearch_winnow.clusters.asked import ClusterError, Clustering, Progress
from opensearch_winnow.clusters.found import Found

EngineName = Literal["duckdb", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
NOTHING: Mapping[str, str] = {}


def cluster_records(
    records: Sequence[str],
    asked: Clustering,
    *,
    engine: EngineName = "duckdb",
    output: str | None = None,
    evidence: str | None = None,
    changes: str | None = None,
    overwrite: bool = False,
    state: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    work: str | None = None,
    spark: Mapping[str, str] = NOTHING,
    key: str | None = None,
    progress: Progress | None = None,
) -> Found:
    """Cluster record files, or folders of them, and write the tables that are asked for.

    `output` has a row for each page, `evidence` for each edge, `changes` for each page whose record has another
    cluster. They appear when all is done. `memory` (2GB), `threads`, `work` (a folder for what does not fit) and
    `state` are for DuckDB, and `spark` are settings of Spark.
    """
    start = time.monotonic()
    if not records:
        raise ClusterError("what to cluster? There are no record files")
    if engine not in ENGINES:
        raise ClusterError(f"no engine {engine!r}; there are {' and '.join(ENGINES)}")
    progress = progress or (lambda _phase, _done, _total: None)
    if engine == "duckdb":
        from opensearch_winnow.clusters.on_duckdb import cluster_on_duckdb  # noqa: PLC0415

        found = cluster_on_duckdb(
            records,
            asked,
            output=output,
            evidence=evidence,
            changes=changes,
            overwrite=overwrite,
            memory=memory,
            threads=threads,
            work=work,
            key=key,
            progress=progress,
        )
    else:
        raise NotImplementedError
    found.seconds = round(time.monotonic() - start, 3)
    return found
