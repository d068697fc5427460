"""Figures of a store that take seconds to count: counted in a thread of their own, and kept for a while."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Generic, TypeVar

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.web.server_threads import BusyError

LIFETIME_PER_COUNTING_TIME = 20  # figures live 20 times as long as they took to count: at most 5 % of time is counting
MIN_LIFETIME_SECONDS = 60.0
LOG = logging.getLogger("opensearch_winnow.web")

Figures = TypeVar("Figures")


class KeptFigures(Generic[Figures]):
    """Counts figures when they are needed and the kept ones are too old. Requests never count by themselves.

    Old figures are returned while new ones are counted, unless pages were deleted since: these must not appear again.
    """

    def __init__(
        self,
        open_index: Callable[[], Index],
        count: Callable[[Index], Figures],
        *,
        min_lifetime: float = MIN_LIFETIME_SECONDS,
        busy: Callable[[], str] = lambda: "the pages are being counted",
    ) -> None:
        """`busy` describes the work in progress, for the message of a BusyError."""
        self._open_index = open_index
        self._count = count
        self._min_lifetime = min_lifetime
        self._busy = busy
        self._changed = Condition()
        self._thread: Thread | None = None
        self._figures: Figures | None = None
        self._deletion: str | None = None  # the last deletion before the figures were counted
        self._counted_from = 0.0
        self._expires = 0.0
        self._version = 0  # changes when figures expire: a count that began before that is dropped
        self._error: WinnowError | None = None

    def get(self, index: Index, wait: float) -> Figures:
        """Return the kept figures. If there are none, wait for them, and raise BusyError after `wait` seconds.

        Figures from before the last deletion in the store of `index` do not count.
        """
        requested = time.monotonic()
        until = requested + wait
        deletion = index.last_deletion()
        with self._changed:
            self._error = None
            while self._error is None:
                # Pages deleted after the question may be in its answer: otherwise, no question would be answered
                # during a long deletion.
                usable = self._deletion == deletion or self._counted_from >= requested
                if self._thread is None and (not usable or time.monotonic() >= self._expires):
                    self._thread = Thread(target=self._run, args=[self._version], name="winnow-figures", daemon=True)
                    self._thread.start()
                if self._figures is not None and usable:
                    return self._figures
                if not self._changed.wait(until - time.monotonic()):
                    raise BusyError(f"{self._busy()}: try again in a moment")
            raise self._error

    def expire(self) -> None:
        """Drop the figures, so that the next `get` waits for new ones."""
        with self._changed:
            self._figures = None
            self._expires = 0.0
            self._version += 1

    def _run(self, version: int) -> None:
        start = time.monotonic()
        figures, error, deletion = None, None, None
        try:
            with self._open_index() as index:
                deletion = index.last_deletion()
                figures = self._count(index)
        except WinnowError as raised:
            error = raised
        except Exception:
            LOG.exception("could not count the pages of the store")
            error = WinnowError("the pages could not be counted: the log of winnow serve has the reason")
        with self._changed:
            self._thread = None
            self._error = error
            if figures is not None and version == self._version:
                self._figures, self._deletion, self._counted_from = figures, deletion, start
                lifetime = max(LIFETIME_PER_COUNTING_TIME * (time.monotonic() - start), self._min_lifetime)
                self._expires = time.monotonic() + lifetime
            self._changed.notify_all()
