"""Statistics that are counted once for many visitors: of a large store it takes seconds."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from threading import Lock

from opensearch_winnow.answers.common_texts import common_texts
from opensearch_winnow.answers.page_counts import page_counts
from opensearch_winnow.answers.power_law import power_law
from opensearch_winnow.answers.statistics_document import CountedDocument, statistics_document
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.web.index_threads import BusyError

TIMES = 20  # as long as it took to count them they are kept: counting takes a small part of all time
LEAST = 60.0  # seconds


class KeptStatistics:
    def __init__(self, least: float = LEAST) -> None:
        """So many seconds they are kept at least."""
        self._least = least
        self._lock = Lock()
        self._counting = False
        self._kept: CountedDocument | None = None
        self._until = 0.0

    def of(self, index: Index) -> CountedDocument:
        """Counted anew, if what is kept is old. Who asks while that is done for somebody else gets the old ones; they
        do not wait for it, or soon nobody would answer anything else."""
        with self._lock:
            if self._kept is not None and (self._counting or time.monotonic() < self._until):
                return self._kept
            if self._counting:
                raise BusyError("the statistics are being counted for somebody else: ask again in a moment")
            self._counting = True
        try:
            found = _counted(index)
            with self._lock:
                self._kept = found
                self._until = time.monotonic() + max(TIMES * found["seconds"], self._least)
            return found
        finally:
            self._counting = False

    def forget(self) -> None:
        """Somebody wants to know how it is now."""
        with self._lock:
            self._until = 0.0


def _counted(index: Index) -> CountedDocument:
    start, at = time.monotonic(), datetime.now(UTC)
    statistics = index.statistics()
    pages = page_counts(index.store.scan(Card))
    law = power_law(statistics.frequencies["fingerprints"])
    return {
        **statistics_document(index.name, index.scheme, statistics, pages, law),
        "common_texts": common_texts(index, pages.sample),
        "clustering": None,  # that is asked for each time
        "at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "seconds": round(time.monotonic() - start, 3),
    }
