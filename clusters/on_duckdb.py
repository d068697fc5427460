"""Clusters on one machine, within a bound of memory: DuckDB sorts and joins, the core compares."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from opensearch_winnow.clusters import duckdb_clusters, found
from opensearch_winnow.clusters.asked import Clustering, Progress
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, in_words
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.expected_recall import expected_recall
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.clusters.memory_size import memory_size
from opensearch_winnow.clusters.record_scan import RecordScan
from opensearch_winnow.clusters.table_file import TableFile

MEMORY = "2GB"


def cluster_on_duckdb(
    records: Sequence[str],
    asked: Clustering,
    *,
    output: str | None,
    evidence: str | None,
    changes: str | None,
    overwrite: bool,
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
            (output, found.CLUSTERS, duckdb_clusters.CLUSTERS),
            (evidence, found.EDGES, duckdb_clusters.EDGES.format(scheme=scan.scheme.id)),
            (changes, found.CHANGES, duckdb_clusters.CHANGES),
        ):
            if name is not None:
                table = TableFile(Path(name), schema, about, overwrite=overwrite)
                stack.callback(table.discard)
                tables.append((table, query))
        folder = stack.enter_context(_working_in(work, output))
        con = Connection(folder, allowed // 2, threads)  # the other half is for files that are mapped, and batches
        stack.callback(con.close)
        edges = Edges(con, scan, asked, folder, allowed, progress)
        stack.callback(edges.close)
        edges.make_pages()
        edges.make_edges()
        progress("clustering", 0, None)
        clusters = Clusters(con, edges, asked.linkage)
        sizes = clusters.sizes()
        contents, copies = con.row("SELECT count(*) FILTER (number = content), count(*) FILTER (number <> content) FROM pages")
        for table, query in tables:
            progress("writing", 0, None)
            table.write(con.batches(query))
        for table, _ in reversed(tables):
            table.place()
    candidates = edges.found
    return Found(
        engine="duckdb",
        scheme=scan.scheme.id,
        pages=edges.pages,
        contents=contents,
        clusters=sizes.clusters,
        clustered_pages=sizes.pages,
        identical_clusters=sizes.identical_clusters,
        identical_pages=sizes.identical_pages,
        sizes=sizes.sizes,
        largest=sizes.largest,
        edges=candidates.edges + copies,
        candidates=candidates,
        expected_recall=expected_recall(candidates.histogram, asked.threshold, scan.scheme) if asked.fast else None,
    )


@contextmanager
def _working_in(work: str | None, output: str | None) -> Iterator[Path]:
    """A new folder in the one that is named, else beside the output, else where the system has such things."""
    place = Path(work) if work else Path(output).parent if output else Path(tempfile.gettempdir())
    with in_words(place):
        folder = Path(tempfile.mkdtemp(prefix=".winnow-clusters-", dir=os.fspath(place)))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
