"""A bounded pool of threads that answer requests, each with its own open index, as a rule."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from opensearch_winnow.foundation.cancellation import cancelled_by, check_cancelled
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.stores.opening import file_identity

Opened = TypeVar("Opened")
Result = TypeVar("Result")


class BusyError(WinnowError):
    """The server has more requests than it can answer soon."""


class ServerThreads(Generic[Opened]):
    """Runs functions, each with what its thread has opened. One thread is kept for functions that are not `heavy`."""

    def __init__(
        self,
        open_: Callable[[], AbstractContextManager[Opened]],
        *,
        store: str | None = None,
        threads: int,
        max_waiting: int,
    ) -> None:
        """`threads` functions run at a time, and `max_waiting` more may wait for a thread. `store` is the full name
        of the store that is opened; it is opened again when another file has replaced it."""
        self._open_function = open_
        self._store = store
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="winnow")
        self._heavy = asyncio.Semaphore(max(threads - 1, 1))
        self._max_pending = threads + max_waiting
        self._pending = 0
        self._running: set[threading.Event] = set()  # set an event to cancel its function
        self._local = threading.local()
        self._opened: list[AbstractContextManager[Opened]] = []

    async def run(self, function: Callable[[Opened], Result], *, heavy: bool = False, goes_on: bool = False) -> Result:
        """Run `function` with what a thread has opened; raise BusyError if too many are waiting, unless it `goes_on`
        with an answer that has begun.

        If the task that waits for it is cancelled, so is the function. It keeps its thread until it notices.
        """
        if self._pending >= self._max_pending and not goes_on:
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
                future.exception()  # retrieved, so that asyncio does not log it when no task waits for it

        future = asyncio.get_running_loop().run_in_executor(self._pool, self._run, function, cancelled)
        future.add_done_callback(done)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _run(self, function: Callable[[Opened], Result], cancelled: threading.Event) -> Result:
        with cancelled_by(cancelled):
            check_cancelled()
            context: AbstractContextManager[Opened] | None = getattr(self._local, "context", None)
            if context is None or self._file() != self._local.file:
                self._open(context)
            opened: Opened = self._local.opened
            return function(opened)

    def _open(self, old: AbstractContextManager[Opened] | None) -> None:
        """Open this thread's store for the first time, or again if another file has replaced it."""
        if old is not None:
            self._local.context = None
            self._opened.remove(old)
            old.__exit__(None, None, None)
        context = self._open_function()
        self._local.opened = context.__enter__()
        self._local.context, self._local.file = context, self._file()
        self._opened.append(context)

    def _file(self) -> tuple[int, int] | None:
        return None if self._store is None else file_identity(self._store)

    def cancel(self) -> None:
        """Cancel the functions that are running."""
        for cancelled in self._running:
            cancelled.set()

    def close(self) -> None:
        """Cancel the functions that are running, wait for their end, then close all that was opened."""
        self.cancel()
        self._pool.shutdown(cancel_futures=True)
        for context in self._opened:
            context.__exit__(None, None, None)
