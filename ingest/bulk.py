"""A whole crawl: from its sources to where its records are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from opensearch_winnow.ingest.crew import Crew
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.ingest.sources.split import Split
from opensearch_winnow.ingest.tally import Destination, Tally
from opensearch_winnow.ingest.worker import Job

CPU_SECONDS = 10.0  # some 600 times what a page of 1 MB takes


def index(
    splits: Iterable[Split],
    destination: Destination,
    failed: FailedPages,
    recipe: Recipe,
    *,
    workers: int = 1,
    cpu_seconds: float = CPU_SECONDS,
    progress: Callable[[Report], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Report:
    """Make records of all pages, and keep them: the same in the same order for any number of workers.

    `progress` is called several times a second. When `stop` says so, what is done so far is kept and the report says
    that it was stopped; another run finds it unchanged, and goes on.
    """
    start = time.monotonic()
    read = 0  # bytes, in splits that are finished
    with Tally(destination, failed) as tally, Crew(workers, Job(recipe, cpu_seconds, tally.stored)) as crew:
        report = tally.report
        for split, message in crew.work(splits, stop):
            failed.reading(split.path)
            tally.count_all(message.results, split.path)
            report.content_bytes += message.content
            report.source_bytes = read + (split.size if message.finished else split.bytes_before(message.offset))
            read += split.size if message.finished else 0
            report.seconds = time.monotonic() - start
            progress(report)
    report.stopped = failed.incomplete = not crew.finished
    report.seconds = time.monotonic() - start
    return report
