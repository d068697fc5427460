"""Indexes pages that a program has in memory, without worker processes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.record_writer import RecordWriter
from opensearch_winnow.ingest.runs.report import Outcome, Report
from opensearch_winnow.ingest.runs.tally import Result, Tally, wrong_dates_of
from opensearch_winnow.ingest.sources.split import Failed

BATCH_SIZE = 256  # pages that are looked up in the store together
BATCH_SECONDS = 0.5  # the longest that a page waits for its batch to fill


class PageIntake:
    """Makes records of pages and passes them to a writer. Use it as a context manager.

    Pages are parsed in this process, so there is no time limit for a page.
    """

    def __init__(self, writer: RecordWriter, failed: FailedPages, recipe: Recipe) -> None:
        self.writer = writer
        self._maker = RecordMaker(recipe)
        self._tally = Tally(writer, failed)
        self._start = time.monotonic()

    @property
    def report(self) -> Report:
        """The counts so far."""
        return self._tally.report

    def add(self, page: Page) -> Outcome:
        """Add `page` and return its outcome."""
        (outcome,) = self._add([page])
        assert outcome is not None
        return outcome

    def add_all(self, pages: Iterable[Page]) -> None:
        """Add pages in batches. If iterating over `pages` raises, the pages before that are still added."""
        batch: list[Page] = []
        since = time.monotonic()
        try:
            for page in pages:
                if not isinstance(page, Page):
                    raise QuestionError(f"a page is a Page(url, html=… or text=…), not a {type(page).__name__}")
                batch.append(page)
                if len(batch) == BATCH_SIZE or time.monotonic() - since >= BATCH_SECONDS:
                    adding, batch, since = batch, [], time.monotonic()
                    self._add(adding)
        finally:
            self._add(batch)

    def _add(self, given: Sequence[Page]) -> list[Outcome | None]:
        pages = [page.with_possible_date() for page in given]
        results = [self._result(page) for page in pages]
        outcomes = self._tally.count_all(results, "")
        self._tally.count_wrong_dates(wrong_dates_of(pages, results))
        self.report.content_bytes += sum(page.size for page in pages)
        self.report.seconds = time.monotonic() - self._start
        return outcomes

    def _result(self, page: Page) -> Result:
        try:
            return self._maker.make(page)
        except Exception as error:  # as in a worker: one page must not cost the others of its batch
            return Failed(page, f"{type(error).__name__}: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._tally.__exit__(*exception)
