"""A cache of the store's statistics: counting a large store takes seconds."""

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

LIFETIME_PER_COUNTING_TIME = (
    20  # statistics live 20 times as long as they took to count: at most 5 % of time is counting
)
MIN_LIFETIME_SECONDS = 60.0


class StatisticsCache:
    """Counts the statistics of a store when the cached ones are too old."""

    def __init__(self, min_lifetime: float = MIN_LIFETIME_SECONDS) -> None:
        self._min_lifetime = min_lifetime
        self._lock = Lock()
        self._counting = False
        self._cached: CountedDocument | None = None
        self._expires = 0.0

    def get(self, index: Index) -> CountedDocument:
        """Return the cached statistics, or count them if they have expired.

        While one thread counts, others get the old statistics, or a BusyError if there are none: if they waited, soon
        no thread would be left to answer anything else.
        """
        with self._lock:
            if self._cached is not None and (self._counting or time.monotonic() < self._expires):
                return self._cached
            if self._counting:
                raise BusyError("the statistics are being counted: try again in a moment")
            self._counting = True
        try:
            document = _count(index)
            with self._lock:
                self._cached = document
                lifetime = max(LIFETIME_PER_COUNTING_TIME * document["seconds"], self._min_lifetime)
                self._expires = time.monotonic() + lifetime
            return document
        finally:
            self._counting = False

    def expire(self) -> None:
        """Have the next `get` count again."""
        with self._lock:
            self._expires = 0.0


def _count(index: Index) -> CountedDocument:
    start, at = time.monotonic(), datetime.now(UTC)
    statistics = index.statistics()
    pages = page_counts(index.store.scan(Card))
    law = power_law(statistics.frequencies["fingerprints"])
    return {
        **statistics_document(index.name, index.scheme, statistics, pages, law),
        "common_texts": common_texts(index, pages.sample),
        "clustering": None,  # read from the store for each request
        "at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "seconds": round(time.monotonic() - start, 3),
    }
