"""Clusters record files with the chosen engine."""

from __future__ import annotations

import time
from collections.abc import Sequence

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.extras import extra


def cluster_records(
    records: Sequence[str], options: ClusteringOptions, settings: RunSettings = RunSettings()
) -> ClusteringResult:
    """Cluster `records`, which are record files or folders of them, and write the tables that `settings` names.

    The tables appear together at the end of the run.
    """
    if not records:
        raise ClusterError("there are no record files to cluster: name at least one")
    start = time.monotonic()
    if settings.engine == "duckdb":
        with extra("cluster"):  # imported here because Arrow takes half a second to load
            from opensearch_winnow.clusters.on_duckdb import cluster_on_duckdb  # noqa: PLC0415

        result = cluster_on_duckdb(records, options, settings)
    else:
        with extra("spark"):
            from opensearch_winnow.clusters.spark.engine import cluster_on_spark  # noqa: PLC0415
            from opensearch_winnow.clusters.spark.session import spark_session  # noqa: PLC0415

        result = cluster_on_spark(records, options, settings, session=spark_session(settings.spark))
    result.seconds = round(time.monotonic() - start, 3)
    return result
