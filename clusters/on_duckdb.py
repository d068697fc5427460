"""Clusters records on one machine within a memory limit: DuckDB sorts and joins, the compiled core compares."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from opensearch_winnow.clusters import duckdb_clusters, schemas
from opensearch_winnow.clusters.column_file import ColumnFile
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, reporting_duckdb_errors
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.options import MIN_MEMORY, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.record_scan import Scan
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.state import State
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.clusters.work_folder import work_folder
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.estimates import MIN_SHINGLES
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule

MIN_DUCKDB_MEMORY = MIN_MEMORY // 2  # of the least memory that a run may have


def cluster_on_duckdb(scan: Scan, options: ClusteringOptions, settings: RunSettings) -> ClusteringResult:
    """Cluster the records of `scan`, and write the tables that `settings` names."""
    metadata = {
        "scheme_id": scan.scheme.id,
        "threshold": options.threshold,
        "linkage": options.linkage,
        "fast": options.fast,
        "representative": options.representative,
    }
    with ExitStack() as stack:
        tables = []
        for name, schema, query in (
            (settings.output, schemas.CLUSTERS, duckdb_clusters.CLUSTERS),
            (settings.evidence, schemas.EDGES, duckdb_clusters.EDGES.format(scheme=scan.scheme.id)),
            (settings.changes, schemas.CHANGES, duckdb_clusters.CHANGES),
        ):
            if name is not None:
                table = TableFile(Path(name), schema, metadata, overwrite=settings.overwrite)
                stack.callback(table.discard)
                tables.append((table, query))
        state = State(Path(settings.state), options, scan.scheme.id) if settings.state else None
        folder = stack.enter_context(work_folder(settings))
        stack.enter_context(reporting_duckdb_errors(folder.parent))
        # The rest of the memory is for memory-mapped files and batches.
        con = Connection(folder, max(settings.memory_bytes // 4, MIN_DUCKDB_MEMORY), settings.threads)
        stack.callback(con.close)
        edges = Edges(con, scan, options, folder, settings.thread_count, settings.report, min_shingles=MIN_SHINGLES)
        stack.callback(edges.close)
        edges.make_pages(_kept_columns(settings, options.other_representative))
        state_loaded = state is not None and state.load(con)
        edges.make_edges(use_state=state_loaded)
        settings.report("clustering", 0, None)
        clusters = Clusters(con, edges, options.linkage, options.other_representative)
        sizes = clusters.sizes()
        known = con.row("SELECT count(*) FROM known")[0] if state_loaded else 0
        contents, copies = con.row(
            "SELECT count(*) FILTER (number = content), count(*) FILTER (number <> content) FROM pages"
        )
        for table, query in tables:
            settings.report("writing", 0, None)
            table.write(con.batches(query))
        if state:
            state.write(con)
        for table, _ in reversed(tables):
            table.commit()
    candidates = edges.candidates
    return ClusteringResult(
        engine="duckdb",
        scheme=scan.scheme.id,
        pages=edges.pages,
        contents=contents,
        **sizes._asdict(),
        edges=candidates.edges + copies,
        candidates=candidates,
        fresh=contents - known if state else None,
        expected_recall=candidates.expected_recall(options.threshold, scan.scheme) if options.fast else None,
    )


def cluster_columns(
    batches: Iterable[pa.RecordBatch],
    scheme: Scheme,
    options: ClusteringOptions,
    settings: RunSettings,
    *,
    unique: bool,
) -> ClusteringResult:
    """Cluster batches of COLUMNS, which are kept in the work folder meanwhile. `unique` is as in `ColumnFile`."""
    for name in filter(None, (settings.output, settings.evidence)):
        check_output(Path(name), overwrite=settings.overwrite)  # before the batches are made, which takes long
    with work_folder(settings) as folder, closing(ColumnFile(folder / "columns.arrow", scheme)) as file:
        for batch in batches:
            file.add(batch)
        file.complete(unique=unique)
        return cluster_on_duckdb(file, options, replace(settings, work=str(folder)))


def _kept_columns(settings: RunSettings, rule: RepresentativeRule | None) -> list[str]:
    """Return the columns of pages that only some runs need, for their outputs."""
    wanted = {
        "content_digest": settings.evidence,
        "text_digest": settings.evidence,
        "cluster": settings.changes,
        "key": settings.state,
    }
    decides = [rule.column] if rule is not None and rule.column != "fetched_at" else []
    return [*(name for name, needed in wanted.items() if needed), *decides]
