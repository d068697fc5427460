"""Counts every result of a run and passes it on: records to their writer, failed pages to their file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.ledger import Ledger, Unchanged
from opensearch_winnow.ingest.runs.record_writer import BLOCKED, RecordWriter
from opensearch_winnow.ingest.runs.report import Damaged, Outcome, Report
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped
from opensearch_winnow.mappings.record import Record

Result = Record | Unchanged | Skipped | Failed | Damage

MAX_LISTED_DAMAGE = 1000  # damaged ranges that a report lists one by one


class Tally:
    """Counts the results of one run. Use it as a context manager; its temporary files are deleted on exit."""

    def __init__(self, writer: RecordWriter, failed: FailedPages) -> None:
        self.report = Report()
        self.left_out: dict[str, Counter[str]] = {}  # by web archive: records that are not indexed, by reason
        self._writer = writer
        self._failed = failed
        self._folder = TemporaryDirectory(prefix="winnow-")
        folder = Path(self._folder.name)
        try:
            self._before = writer.pages_before_run(folder)
            self._ledger = Ledger(folder / "run.sqlite", self._before.file)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.close()
        self._folder.cleanup()

    def count_all(self, results: Sequence[Result], source: str, archive: str = "") -> list[Outcome | None]:
        """Count `results` of one source and return the outcome of each; None for damage, which is not a page.

        `archive` is the path of a web archive, if they are from one.
        """
        if archive:
            not_indexed = (each.reason for each in results if isinstance(each, Skipped | Failed))
            self.left_out.setdefault(archive, Counter()).update(not_indexed)
        self._before.look_up([result for result in results if isinstance(result, Record)])
        return [self._count(result, source) for result in results]

    @property
    def stored_file(self) -> Path:
        """The file with the pages that were stored before the run, for the workers."""
        return self._before.file

    def count_wrong_dates(self, dates: Sequence[str]) -> None:
        """Count dates that cannot be right, and keep one of them as an example."""
        self.report.wrong_dates += len(dates)
        self.report.wrong_date = self.report.wrong_date or next(iter(dates), "")

    def _count(self, result: Result, source: str) -> Outcome | None:
        report = self.report
        if not isinstance(result, Skipped | Damage):
            url = result.page.url if isinstance(result, Failed) else result.url
            if self._writer.blocks(url):
                result = Skipped(url, BLOCKED)
        if isinstance(result, Record | Unchanged):
            result = self._ledger.settle(result)
        match result:
            case Record():
                self._writer.add(result, partial(self._refused, result, source))
                report.indexed += 1
                report.replaced = self._ledger.replaced
                report.replaced_undated = self._ledger.replaced_undated
                if result.duplicate:
                    report.duplicates[result.duplicate] += 1
                return "indexed"
            case Unchanged():
                report.unchanged += 1
                return "unchanged"
            case Skipped():
                report.skipped[result.reason] += 1
                return "skipped"
            case Failed():
                self._failed.add(result, source)
                report.failed[result.reason] += 1
                return "failed"
            case Damage():
                report.damaged_ranges += 1
                report.damaged_bytes += result.skipped
                if len(report.damaged) < MAX_LISTED_DAMAGE:
                    report.damaged.append(Damaged(source, result.offset, result.skipped, result.reason))
                return None

    def _refused(self, record: Record, source: str, reason: str) -> None:
        """Recount an indexed record as failed, or as skipped if it is blocked: the destination has refused it."""
        if reason == BLOCKED:
            self.report.skipped[BLOCKED] += 1
        else:
            page = Page(record.url, text=record.text, fetched_at=record.fetched_at, title=record.title)
            self._failed.add(Failed(page, reason), source)
            self.report.failed[reason] += 1
        self.report.indexed -= 1
        if record.duplicate:
            self.report.duplicates -= Counter([record.duplicate])  # subtracting drops a kind that reaches 0


def wrong_dates_of(items: Sequence[Item], results: Sequence[Result]) -> list[str]:
    """Return the dates that cannot be right, of those pages among `items` that have a record among `results`."""
    return [
        item.wrong_date
        for item, result in zip(items, results, strict=True)
        if isinstance(item, Page) and item.wrong_date and isinstance(result, Record | Unchanged)
    ]
