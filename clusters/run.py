"""Clusters record files, or pages in memory, with the chosen engine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe

# Engines are imported when they are used, because Arrow takes half a second to load.


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
        with extra("cluster"):
            from opensearch_winnow.clusters.on_duckdb import cluster_on_duckdb  # noqa: PLC0415
            from opensearch_winnow.clusters.record_scan import RecordScan  # noqa: PLC0415

        result = cluster_on_duckdb(RecordScan.of(records, settings.key), options, settings)
    else:
        with extra("spark"):
            from opensearch_winnow.clusters.spark.engine import cluster_on_spark  # noqa: PLC0415
            from opensearch_winnow.clusters.spark.session import spark_session  # noqa: PLC0415

        result = cluster_on_spark(records, options, settings, session=spark_session(settings.spark or {}))
    return replace(result, seconds=round(time.monotonic() - start, 3))


def cluster_pages(
    pages: Iterable[Page],
    options: ClusteringOptions = ClusteringOptions(),
    settings: RunSettings = RunSettings(),
    recipe: Recipe = Recipe(),
) -> ClusteringResult:
    """Cluster `pages` without a store or record files, and write the tables that `settings` names.

    The clusters are those of the pages' records, but only the columns that clustering reads are made, in two fifths of
    the time. Pages without text and unreadable pages are left out. The last page with a URL and time counts.
    """
    if settings.engine != "duckdb":
        raise ClusterError("pages in memory are clustered with the engine duckdb: for Spark, make record files first")
    with extra("cluster"):
        from opensearch_winnow.clusters.on_duckdb import cluster_columns  # noqa: PLC0415
        from opensearch_winnow.clusters.page_columns import batches_of_columns  # noqa: PLC0415

    start = time.monotonic()
    recipe = replace(recipe, scheme=with_key(recipe.scheme, settings.key))
    batches = batches_of_columns(pages, recipe, settings)
    result = cluster_columns(batches, recipe.scheme, options, settings, unique=False)
    return replace(result, seconds=round(time.monotonic() - start, 3))
