"""Indexes a whole crawl in worker processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.record_writer import RecordWriter
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.runs.tally import Tally
from opensearch_winnow.ingest.runs.worker import Job
from opensearch_winnow.ingest.runs.worker_pool import WorkerPool
from opensearch_winnow.ingest.sources.formats import ARCHIVES
from opensearch_winnow.ingest.sources.split import FILE_FORMATS, Damage, Skipped, Split

MAX_PAGE_SECONDS = 10.0  # of CPU time: some 600 times what a page of 1 MB takes


def index(
    splits: Iterable[Split],
    writer: RecordWriter,
    failed: FailedPages,
    recipe: Recipe,
    *,
    workers: int = 1,
    cpu_seconds: float = MAX_PAGE_SECONDS,
    total_bytes: int | None = None,
    progress: Callable[[Report], object] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Make records of the pages of all `splits` and pass them to `writer`.

    The records and their order are the same for any number of workers. `progress` is called at the start and several
    times a second. When `stop` returns true, the run ends, keeps the pages so far, and the report says so; the next run
    finds these pages unchanged and continues after them.
    """
    start = time.monotonic()
    bytes_read = 0  # of the finished splits
    with Tally(writer, failed) as tally, WorkerPool(workers, Job(recipe, cpu_seconds, tally.stored_file)) as pool:
        report = tally.report
        report.total_bytes = total_bytes
        progress(report)
        for split, message in pool.work(splits, stop):
            failed.reading(split.path)
            tally.count_all(message.results, split.path, split.archive if split.format in ARCHIVES else "")
            tally.count_wrong_dates(message.wrong_dates)
            if split.format in FILE_FORMATS:
                report.files += sum(not isinstance(result, Damage) for result in message.results)
                report.skipped_files.update(each.reason for each in message.results if isinstance(each, Skipped))
            report.content_bytes += message.content
            report.source_bytes = bytes_read + (split.size if message.finished else split.bytes_before(message.offset))
            bytes_read += split.size if message.finished else 0
            report.seconds = time.monotonic() - start
            progress(report)
    report.stopped = failed.incomplete = not pool.finished
    if pool.finished:
        writer.note_left_out(tally.left_out)
    report.seconds = time.monotonic() - start
    return report
