"""Clusters on one machine, within a bound of memory: DuckDB sorts and joins, the core compares."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from opensearch_winnow.clusters import duckdb_clusters, schemas
from opensearch_winnow.clusters.asked import Clustering, Progress
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, in_words
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.expected_recall import expected_recall
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.clusters.memory_size import memory_size
from opensearch_winnow.clusters.record_scan import RecordScan
from opensearch_winnow.clusters.state import State
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.clusters.work_folder import work_folder

MEMORY = "2GB"


def cluster_on_duckdb(
    records: Sequence[str],
    asked: Clustering,
    *,
    output: str | None,
    evidence: str | None,
    changes: str | None,
    overwrite: bool,
    state: str | None,
    memory: str | None,
    threads: int | None,
    work: str | None,
    key: str | None,
    progress: Progress,
) -> Found:
    scan = RecordScan.of(records, key)
    allowed = memory_size(memory or MEMORY)
    about = {"scheme_id": scan.scheme.id, "threshold": asked.threshold, "linkage": asked.linkage, "fast": asked.fast}
    with ExitStack() as stack:
        tables = []
        for name, schema, query in (
            (output, schemas.CLUSTERS, duckdb_clusters.CLUSTERS),
            (evidence, schemas.EDGES, duckdb_clusters.EDGES.format(scheme=scan.scheme.id)),
            (changes, schemas.CHANGES, duckdb_clusters.CHANGES),
        ):
            if name is not None:
                table = TableFile(Path(name), schema, about, overwrite=overwrite)
                stack.callback(table.discard)
                tables.append((table, query))
        kept = State(Path(state), asked, scan.scheme.id) if state else None
        folder = stack.enter_context(work_folder(work, output))
        stack.enter_context(in_words(folder.parent))
        con = Connection(folder, allowed // 2, threads)  # the other half is for files that are mapped, and batches
        stack.callback(con.close)
        edges = Edges(con, scan, asked, folder, threads or os.cpu_count() or 1, progress)
        stack.callback(edges.close)
        edges.make_pages()
        loaded = kept is not None and kept.load(con)
        edges.make_edges(kept if loaded else None)
        progress("clustering", 0, None)
        clusters = Clusters(con, edges, asked.linkage)
        sizes = clusters.sizes()
        known = con.row("SELECT count(*) FROM known")[0] if loaded else 0
        contents, copies = con.row(
            "SELECT count(*) FILTER (number = content), count(*) FILTER (number <> content) FROM pages"
        )
        for table, query in tables:
            progress("writing", 0, None)
            table.write(con.batches(query))
        if kept:
            kept.write(con)
        for table, _ in reversed(tables):
            table.place()
    candidates = edges.found
    return Found(
        engine="duckdb",
        scheme=scan.scheme.id,
        pages=edges.pages,
        contents=contents,
        **sizes._asdict(),
        edges=candidates.edges + copies,
        candidates=candidates,
        fresh=contents - known if kept else None,
        expected_recall=expected_recall(candidates.histogram, asked.threshold, scan.scheme) if asked.fast else None,
    )
