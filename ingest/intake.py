"""Pages that a program has in hand."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.ingest.tally import Destination, Outcome, Tally

AT_MOST = 256  # pages that wait for each other
SECONDS = 0.5  # that they do, where they come slowly


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
        (outcome,) = self._add([page])
        assert outcome is not None
        return outcome

    def add_all(self, pages: Iterable[Page]) -> None:
        """Several at a time, because what is stored of them is looked up for all at once. They are kept, too, if an
        exception comes out of the pages."""
        some: list[Page] = []
        since = time.monotonic()
        try:
            for page in pages:
                some.append(page)
                if len(some) == AT_MOST or time.monotonic() - since >= SECONDS:
                    adding, some, since = some, [], time.monotonic()
                    self._add(adding)
        finally:
            self._add(some)

    def _add(self, pages: Sequence[Page]) -> list[Outcome | None]:
        outcomes = self._tally.count_all([self._maker.make(page) for page in pages], "")
        self.report.content_bytes += sum(page.size for page in pages)
        self.report.seconds = time.monotonic() - self._start
        return outcomes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._tally.__exit__(*exception)
