"""Counts every result of a run and passes it on: records to the destination, failed pages to their file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self

from opensearch_winnow.ingest.destination import Destination
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.ledger import Ledger, Unchanged, add_stored, write_stored
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Damaged, Report
from opensearch_winnow.ingest.sources.split import Damage, Failed, Skipped
from opensearch_winnow.mappings.record import Record

Result = Record | Unchanged | Skipped | Failed | Damage
Outcome = Literal["indexed", "unchanged", "skipped", "failed"]

BLOCKED = "blocked"  # a reason
MAX_LISTED_DAMAGE = 1000  # damaged places that a report lists one by one


class Tally:
    """Counts the results of one run. Use it as a context manager; its temporary files are deleted on exit."""

    def __init__(self, destination: Destination, failed: FailedPages) -> None:
        self.report = Report()
        self._destination = destination
        self._failed = failed
        self._folder = TemporaryDirectory(prefix="winnow-")
        folder = Path(self._folder.name)
        try:
            self.stored_file = destination.stored_file or folder / "stored.sqlite"  # the workers read it too
            if destination.stored_file is None:
                write_stored(self.stored_file, destination.stored())
            self._ledger = Ledger(folder / "run.sqlite", self.stored_file)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.close()
        self._folder.cleanup()

    def count_all(self, results: Sequence[Result], source: str) -> list[Outcome | None]:
        """Count `results` of one source and return the outcome of each; None for damage, which is not a page."""
        stored = list(self._destination.look_up([result for result in results if isinstance(result, Record)]))
        if stored:
            add_stored(self.stored_file, stored)
        return [self._count(result, source) for result in results]

    def _count(self, result: Result, source: str) -> Outcome | None:
        report = self.report
        if not isinstance(result, Skipped | Damage):
            url = result.page.url if isinstance(result, Failed) else result.url
            if self._destination.blocks(url):
                result = Skipped(url, BLOCKED)
        if isinstance(result, Record | Unchanged):
            result = self._ledger.settle(result)
        match result:
            case Record():
                self._destination.add(result, partial(self._refused, result, source))
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
                report.damaged_places += 1
                report.damaged_bytes += result.skipped
                if len(report.damaged) < MAX_LISTED_DAMAGE:
                    report.damaged.append(Damaged(source, result.offset, result.skipped, result.reason))
                return None

    def _refused(self, record: Record, source: str, reason: str) -> None:
        """Recount an indexed record as failed, because the destination has refused it."""
        page = Page(record.url, text=record.text, fetched_at=record.fetched_at, title=record.title)
        self._failed.add(Failed(page, reason), source)
        self.report.failed[reason] += 1
        self.report.indexed -= 1
        if record.duplicate:
            self.report.duplicates -= Counter([record.duplicate])  # subtracting drops a kind that reaches 0
