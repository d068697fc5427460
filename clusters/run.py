"""Clusters of record files, by the engine that is asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack, get_args

from opensearch_winnow.clusters.asked import ClusterError, Clustering, Progress
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.foundation.extras import extra

EngineName = Literal["duckdb", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


class How(TypedDict, total=False):
    """What does not change which clusters there are."""

    engine: EngineName  # duckdb if nothing is said
    output: str | None  # a Parquet file with a row for each page
    evidence: str | None  # and one with a row for each edge
    overwrite: bool  # what is there
    state: str | None  # a folder, from which the next run goes on; DuckDB only
    memory: str | None  # 2GB if nothing is said; DuckDB only
    threads: int | None  # DuckDB only
    work: str | None  # a folder for what does not fit into memory; else it is beside the output
    spark: Mapping[str, str]  # settings of Spark
    progress: Progress | None


def cluster_records(
    records: Sequence[str], asked: Clustering, *, changes: str | None = None, key: str | None = None, **how: Unpack[How]
) -> Found:
    """Cluster record files, or folders of them, and write the tables that are asked for: they appear when all is done.

    `changes` is a Parquet file with a row for each page whose record has another cluster. `key` is that of a scheme
    with a secret.
    """
    start = time.monotonic()
    engine = how.get("engine", "duckdb")
    if not records:
        raise ClusterError("what to cluster? There are no record files")
    if engine not in ENGINES:
        raise ClusterError(f"no engine {engine!r}; there are {' and '.join(ENGINES)}")
    progress = how.get("progress") or (lambda _phase, _done, _total: None)
    if engine == "duckdb":
        with extra("cluster"):  # Arrow takes half a second, too
            from opensearch_winnow.clusters.on_duckdb import cluster_on_duckdb  # noqa: PLC0415

        found = cluster_on_duckdb(
            records,
            asked,
            output=how.get("output"),
            evidence=how.get("evidence"),
            changes=changes,
            overwrite=how.get("overwrite", False),
            state=how.get("state"),
            memory=how.get("memory"),
            threads=how.get("threads"),
            work=how.get("work"),
            key=key,
            progress=progress,
        )
    else:
        if how.get("state"):
            raise ClusterError("a state is kept with the engine duckdb only")
        with extra("spark"):
            from opensearch_winnow.clusters.spark.engine import cluster_on_spark  # noqa: PLC0415
            from opensearch_winnow.clusters.spark.session import spark_session  # noqa: PLC0415

        found = cluster_on_spark(
            records,
            asked,
            output=how.get("output"),
            evidence=how.get("evidence"),
            changes=changes,
            overwrite=how.get("overwrite", False),
            session=spark_session(how.get("spark", {})),
            work=how.get("work"),
            key=key,
            progress=progress,
        )
    found.seconds = round(time.monotonic() - start, 3)
    return found
