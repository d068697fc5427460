"""Decides which rows are kept, on one machine within a memory limit."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from opensearch_winnow.clusters.column_file import ColumnFile
from opensearch_winnow.clusters.deduplication.containments import Containments
from opensearch_winnow.clusters.deduplication.decisions import (
    CONTAINED,
    EXACT,
    FAILED,
    IDENTICAL,
    KEPT,
    NEAR,
    Deduplication,
    RowCluster,
)
from opensearch_winnow.clusters.deduplication.options import DeduplicationOptions
from opensearch_winnow.clusters.deduplication.row_columns import RowColumns, batches_of_rows, row_schema
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_connection import Connection, reporting_duckdb_errors
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.map_ahead import map_ahead
from opensearch_winnow.clusters.on_duckdb import MIN_DUCKDB_MEMORY
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.work_folder import work_folder
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES, Recipe, RecordMaker
from opensearch_winnow.ingest.rows import FailedRow, Row

READING = "reading rows"
LARGEST_LISTED = 10
# The order in which rows are kept: the earlier set first, then by the rule, by time, and in the order of reading.
ROW_ORDER = "earlier_set DESC, rank NULLS LAST, fetched_at NULLS LAST, row"
CREATE_EQUAL_MEMBERS = """
CREATE TABLE members AS SELECT number, content AS representative, 1.0 AS similarity, 1.0 AS resemblance FROM pages
"""
CREATE_CONTAINED_MEMBERS = """
CREATE TABLE members AS
SELECT number, coalesce(representative, content) AS representative, coalesce(share, 1.0) AS similarity,
    coalesce(resemblance, 1.0) AS resemblance
FROM (
    SELECT number, content, representative,
        (least(representative, content)::BIGINT << 32) | greatest(representative, content) AS pair
    FROM pages LEFT JOIN followers ON followers.page = content
) LEFT JOIN (
    SELECT pair, resemblance, later_share AS share, (pair & 4294967295) AS content FROM contained
    UNION ALL SELECT pair, resemblance, earlier_share, (pair >> 32) FROM contained
) USING (pair, content)
"""
DROPPED = """
SELECT page.row, first.row, similarity, resemblance, page.text_digest = first.text_digest,
    page.symbols <> first.symbols, first.url
FROM members JOIN pages page USING (number) JOIN pages first ON first.number = representative
WHERE page.number <> representative AND NOT page.earlier_set
"""
LARGEST = f"""
SELECT 1 + dropped, url FROM (
    SELECT representative, count(*) AS dropped FROM members JOIN pages USING (number)
    WHERE number <> representative AND NOT earlier_set GROUP BY representative
) JOIN pages ON number = representative ORDER BY dropped DESC, representative LIMIT {LARGEST_LISTED}
"""

OnFailure = Callable[[FailedRow, Page | None], None]


def decide_rows(
    rows: Iterable[Row | FailedRow],
    options: DeduplicationOptions = DeduplicationOptions(),
    settings: RunSettings = RunSettings(),
    *,
    earlier_set: Iterable[Row | FailedRow] = (),
    scheme: Scheme = Scheme(),
    max_row_size: int = MAX_PAGE_BYTES,
    on_failure: OnFailure | None = None,
) -> Deduplication:
    """Decide which of `rows`, numbered from 0 without gaps, are kept.

    The rows of `earlier_set` are compared with them, and not with each other. `on_failure` is called with each row that
    cannot be read, and with its page if only its HTML cannot be read.
    """
    start = time.monotonic()
    decisions = Deduplication()
    maker = RecordMaker(Recipe(scheme=scheme, max_page_size=max_row_size))
    with (
        work_folder(settings) as folder,
        reporting_duckdb_errors(folder),
        closing(ColumnFile(folder / "columns.arrow", scheme, row_schema(options))) as file,
    ):
        is_ranked = False
        numbers = array("q")  # of each row of the file, those of the earlier set negative

        def read(some: Iterable[Row | FailedRow], *, earlier: bool) -> Iterator[tuple[FailedRow, Page | None]]:
            nonlocal is_ranked
            columns = RowColumns(maker, options, earlier_set=earlier)
            done = 0
            for batch in map_ahead(columns, batches_of_rows(some), settings.thread_count):
                file.add(batch.columns)
                ranks = batch.columns["rank"]
                is_ranked = is_ranked or (not earlier and ranks.null_count < len(ranks))
                numbers.extend(-1 - number if earlier else number for number in batch.numbers)
                done += len(batch.numbers) + len(batch.failed)
                settings.report(READING, done, None)
                decisions.wrong_dates += batch.wrong_dates
                yield from batch.failed

        decisions.against_failed = sum(1 for _ in read(earlier_set, earlier=True))
        first = len(numbers)
        decisions.against_rows = first + decisions.against_failed
        failed = []
        for row, page in read(rows, earlier=False):
            failed.append(row.number)
            decisions.failures[row.reason] += 1
            if on_failure is not None:
                on_failure(row, page)
        if len(numbers) > first and not is_ranked and (error := options.keep_rule.without_ranks()):
            raise error
        for _ in range(len(numbers) - first + len(failed)):
            decisions.add(KEPT)
        for number in failed:
            decisions.outcomes[number] = FAILED
        file.complete(unique=True)
        if len(numbers) > first:
            _decide(file, numbers, first, options, settings, folder, decisions)
    decisions.seconds = round(time.monotonic() - start, 3)
    return decisions


def _decide(
    file: ColumnFile,
    numbers: array[int],
    earlier_rows: int,
    options: DeduplicationOptions,
    settings: RunSettings,
    folder: Path,
    decisions: Deduplication,
) -> None:
    clustering = ClusteringOptions(threshold=options.min_score, compared=options.compared)
    with ExitStack() as stack:
        # The rest of the memory is for memory-mapped files and batches.
        con = Connection(folder, max(settings.memory_bytes // 4, MIN_DUCKDB_MEMORY), settings.threads)
        stack.callback(con.close)
        kind = Containments if options.match == "contained" else Edges
        edges = kind(con, file, clustering, folder, settings.thread_count, settings.report)
        stack.callback(edges.close)
        edges.make_pages(["earlier_set", "rank", "text_digest", "shingle_count", "symbols"], ROW_ORDER)
        if earlier_rows:
            edges.leave_out_pairs_of_first(earlier_rows)
        if options.match in ("identical", "exact"):
            con.run(CREATE_EQUAL_MEMBERS)
        else:
            edges.make_edges()
            settings.report("choosing", 0, None)
            if options.match == "near":
                Clusters(con, edges, "representatives")
                con.run("ALTER TABLE members ADD COLUMN similarity DOUBLE")
                con.run("UPDATE members SET similarity = resemblance")
            else:
                con.run(CREATE_CONTAINED_MEMBERS)
            if isinstance(edges, Containments):
                decisions.not_compared = edges.unfinished
        equal = IDENTICAL if options.match == "identical" else EXACT
        for batch in con.batches(DROPPED):
            for row, other, similarity, resemblance, is_equal, differs, url in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                number, representative = numbers[row], numbers[other]
                is_near = resemblance >= options.min_score
                decisions.outcomes[number] = equal if is_equal else NEAR if is_near else CONTAINED
                if is_equal and differs:
                    decisions.add_other_symbols(number, representative)
                decisions.representatives[number] = representative
                decisions.similarities[number] = similarity
                decisions.ids[representative] = url
        decisions.largest_clusters = [RowCluster(*row) for row in con.rows(LARGEST)]
