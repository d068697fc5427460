"""Comparisons of two crawls, which may take minutes: each is made in a thread of its own, and kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import NamedTuple

from opensearch_winnow.answers.crawls.changes import crawls_or_dates
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import Changes
from opensearch_winnow.web.kept_figures import KeptFigures

MAX_COMPARISONS = 8  # that are kept
MAX_PAGES = 5_000  # of each kind, in memory


class ComparedCrawls(NamedTuple):
    """The two crawls or dates that are compared, as they were typed."""

    before: str
    after: str
    site: str | None


class KeptChanges:
    """Compares crawls when somebody wants to see the changes. One comparison is made at a time; the others wait."""

    def __init__(self, open_index: Callable[[], Index]) -> None:
        self._open_index = open_index
        self._lock = Lock()  # of the comparisons that are kept
        self._turn = Lock()
        self._kept: dict[ComparedCrawls, KeptFigures[Changes]] = {}
        self._progress = "the crawls are being compared"

    def get(self, index: Index, compared: ComparedCrawls, wait: float) -> Changes:
        """Return the changes, with MAX_PAGES of each kind; after `wait` seconds, raise BusyError."""
        with self._lock:
            kept = self._kept.pop(compared, None)
            if kept is None:
                kept = KeptFigures(self._open_index, partial(self._compare, compared), busy=lambda: self._progress)
            self._kept[compared] = kept  # at the end: the first was not wanted for the longest time
            if len(self._kept) > MAX_COMPARISONS:
                del self._kept[next(iter(self._kept))]
        return kept.get(index, wait)

    def _compare(self, compared: ComparedCrawls, index: Index) -> Changes:
        with self._turn:
            states = crawls_or_dates(index, compared.before, compared.after)
            return index.changes(*states, site=compared.site, limit=MAX_PAGES, progress=self._note)

    def _note(self, phase: str, done: int, total: int | None) -> None:
        far = f", {done:,} of {total:,}" if total else ""
        self._progress = f"the crawls are being compared ({phase}{far})"
