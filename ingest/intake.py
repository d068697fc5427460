"""Pages that a program has in hand, one at a time."""

from __future__ import annotations

import time
from typing import Self

from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.ingest.tally import Destination, Outcome, Tally


class Intake:
    """The way in without workers, so without a bound on the time of a page. Used as a context."""

    def __init__(self, destination: Destination, failed: FailedPages, recipe: Recipe) -> None:
        self._maker = RecordMaker(recipe)
        self._tally = Tally(destination, failed)
        self._start = time.monotonic()

    @property
    def report(self) -> Report:
        return self._tally.report

    def add(self, page: Page) -> Outcome:
        outcome = self._tally.count(self._maker.make(page), "")
        assert outcome is not None
        self.report.content_bytes += page.size
        self.report.seconds = time.monotonic() - self._start
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._tally.__exit__(*exception)
