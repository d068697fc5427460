"""A bounded pool of threads that answer requests, each with an index of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from opensearch_winnow.foundation.cancellation import cancelled_by, check_cancelled
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opening import file_identity

Result = TypeVar("Result")


class BusyError(WinnowError):
    """The server has more requests than it can answer soon."""


class IndexThreads:
    """Runs functions of an index in a pool of threads. One thread is kept for functions that are not `heavy`."""

    def __init__(self, open_index: Callable[[], Index], *, store: str, threads: int, max_waiting: int) -> None:
        """`threads` functions run at a time, and `max_waiting` more may wait for a thread. `store` is its full name."""
        self._open_index = open_index
        self._store = store
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="winnow")
        self._heavy = asyncio.Semaphore(max(threads - 1, 1))
        self._max_pending = threads + max_waiting
        self._pending = 0
        self._running: set[threading.Event] = set()  # set an event to cancel its function
        self._local = threading.local()
        self._opened: list[Index] = []

    async def run(self, function: Callable[[Index], Result], *, heavy: bool = False) -> Result:
        """Run `function` with the index of a thread; raise BusyError if too many are waiting.

        If the task that waits for it is cancelled, so is the function. It keeps its thread until it notices.
        """
        if self._pending >= self._max_pending:
            raise BusyError(f"{self._pending:,} requests are already waiting: try again in a moment")
        self._pending += 1
        if heavy:
            try:
                await self._heavy.acquire()
            except asyncio.CancelledError:
                self._pending -= 1
                raise
        cancelled = threading.Event()
        self._running.add(cancelled)

        def done(future: asyncio.Future[Result]) -> None:
            self._pending -= 1
            self._running.remove(cancelled)
            if heavy:
                self._heavy.release()
            if not future.cancelled():
                future.exception()  # retrieved, so that asyncio does not log it when nobody waits for it

        future = asyncio.get_running_loop().run_in_executor(self._pool, self._run, function, cancelled)
        future.add_done_callback(done)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _run(self, function: Callable[[Index], Result], cancelled: threading.Event) -> Result:
        with cancelled_by(cancelled):
            check_cancelled()
            index: Index | None = getattr(self._local, "index", None)
            if index is None or file_identity(self._store) != self._local.file:
                index = self._open(index)
            return function(index)

    def _open(self, old: Index | None) -> Index:
        """Open this thread's index for the first time, or again if another file has replaced the store's."""
        if old is not None:
            self._local.index = None
            self._opened.remove(old)
            old.close()
        index = self._open_index()
        self._local.index, self._local.file = index, file_identity(self._store)
        self._opened.append(index)
        return index

    def cancel(self) -> None:
        """Cancel the functions that are running."""
        for cancelled in self._running:
            cancelled.set()

    def close(self) -> None:
        """Cancel the functions that are running, wait for their end, then close all indexes."""
        self.cancel()
        self._pool.shutdown(cancel_futures=True)
        for index in self._opened:
            index.close()
