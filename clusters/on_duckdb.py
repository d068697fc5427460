"""Clusters records on one machine within a memory limit: DuckDB sorts and joins, the compiled core compares."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from opensearch_winnow.clusters import duckdb_clusters, schemas
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, reporting_duckdb_errors
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.record_scan import Scan
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.state import State
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.clusters.work_folder import work_folder


def cluster_on_duckdb(scan: Scan, options: ClusteringOptions, settings: RunSettings) -> ClusteringResult:
    """Cluster what `scan` reads, and write the tables that `settings` names."""
    metadata = {
        "scheme_id": scan.scheme.id,
        "threshold": options.threshold,
        "linkage": options.linkage,
        "fast": options.fast,
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
        # Half of the memory is for DuckDB, the other half for memory-mapped files and batches.
        con = Connection(folder, settings.memory_bytes // 2, settings.threads)
        stack.callback(con.close)
        edges = Edges(con, scan, options, folder, settings.thread_count, settings.report)
        stack.callback(edges.close)
        edges.make_pages()
        state_loaded = state is not None and state.load(con)
        edges.make_edges(use_state=state_loaded)
        settings.report("clustering", 0, None)
        clusters = Clusters(con, edges, options.linkage)
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
            table.place()
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
