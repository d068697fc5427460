"""Clusters record files on one machine within a memory limit: DuckDB sorts and joins, the compiled core compares."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from opensearch_winnow.clusters import duckdb_clusters, schemas
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, reporting_duckdb_errors
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.record_scan import RecordScan
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.state import State
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.clusters.work_folder import work_folder

DEFAULT_MEMORY = "2GB"
UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?", re.IGNORECASE)


def cluster_on_duckdb(records: Sequence[str], options: ClusteringOptions, settings: RunSettings) -> ClusteringResult:
    """Cluster `records`, which are record files or folders of them, and write the tables that `settings` names."""
    scan = RecordScan.of(records, settings.key)
    memory = parse_size(settings.memory or DEFAULT_MEMORY)
    threads = settings.threads or os.cpu_count() or 1
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
        con = Connection(folder, memory // 2, settings.threads)
        stack.callback(con.close)
        edges = Edges(con, scan, options, folder, threads, settings.report)
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


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as 2GB, 512 MB or 1.5GiB means."""
    match = SIZE.fullmatch(text.strip())
    if not match:
        raise ClusterError(f"{text!r} is not a memory size: write megabytes or gigabytes, such as 512MB or 2GB")
    number, unit, binary = match.groups()
    exponent = "KMGT".find(unit.upper()) + 1
    return int(float(number) * (1024**exponent if binary else UNITS[unit.upper()]))
