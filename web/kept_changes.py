"""Comparisons of two crawls, which may take minutes: each is made in a thread of its own, and kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Lock

from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import Changes, ChangesQuestion
from opensearch_winnow.web.kept_figures import KeptFigures

MAX_COMPARISONS = 8  # that are kept
MAX_PAGES = 5_000  # of each kind, in memory


class KeptChanges:
    """Compares crawls on request. One comparison is made at a time; the others wait."""

    def __init__(self, open_index: Callable[[], Index]) -> None:
        self._open_index = open_index
        self._lock = Lock()  # of the comparisons that are kept
        self._turn = Lock()
        self._kept: dict[ChangesQuestion, KeptFigures[Changes]] = {}
        self._progress = "the crawls are being compared"

    def get(self, index: Index, question: ChangesQuestion, wait: float) -> Changes:
        """Return all changes, with MAX_PAGES of each kind; after `wait` seconds, raise BusyError."""
        question = replace(question, change=None, near_revisits=False, limit=MAX_PAGES)
        with self._lock:
            kept = self._kept.pop(question, None)
            if kept is None:
                kept = KeptFigures(self._open_index, partial(self._compare, question), busy=lambda: self._progress)
            self._kept[question] = kept  # at the end: the first is the least recently used
            if len(self._kept) > MAX_COMPARISONS:
                del self._kept[next(iter(self._kept))]
        return kept.get(index, wait)

    def _compare(self, question: ChangesQuestion, index: Index) -> Changes:
        with self._turn:
            return index.changes(replace(question, progress=self._note))

    def _note(self, phase: str, done: int, total: int | None) -> None:
        far = f", {done:,} of {total:,}" if total else ""
        self._progress = f"the crawls are being compared ({phase}{far})"
