"""The threads that ask the index: each has one of its own, and there are only so many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opening import file_identity

Answer = TypeVar("Answer")


class BusyError(WinnowError):
    """More is asked than can be answered soon."""


class IndexThreads:
    def __init__(self, open_index: Callable[[], Index], *, threads: int, waiting: int) -> None:
        """So many questions are answered at a time, and so many may wait."""
        self._open_index = open_index
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="winnow")
        self._most = threads + waiting
        self._asked = 0
        self._own = threading.local()
        self._opened: list[Index] = []

    async def ask(self, question: Callable[[Index], Answer]) -> Answer:
        if self._asked >= self._most:
            raise BusyError(f"{self._asked:,} questions are waiting for an answer already: ask again in a moment")
        self._asked += 1
        # One that nobody waits for any more is counted until it has its answer: it takes a thread as long.
        answered = asyncio.get_running_loop().run_in_executor(self._pool, self._ask, question)
        answered.add_done_callback(self._done)
        return await asyncio.shield(answered)

    def _done(self, answered: asyncio.Future[Answer]) -> None:
        self._asked -= 1
        if not answered.cancelled():
            answered.exception()  # looked at, so that nothing is said of one that nobody waits for

    def _ask(self, question: Callable[[Index], Answer]) -> Answer:
        index: Index | None = getattr(self._own, "index", None)
        if index is None or file_identity(index.name) != self._own.file:
            index = self._open(index)
        return question(index)

    def _open(self, old: Index | None) -> Index:
        """The first time, and when another file has taken the place of the one that is open."""
        if old is not None:
            self._own.index = None
            self._opened.remove(old)
            old.close()
        index = self._open_index()
        self._own.index, self._own.file = index, file_identity(index.name)
        self._opened.append(index)
        return index

    def close(self) -> None:
        """When what is being answered has its answer."""
        self._pool.shutdown(cancel_futures=True)
        for index in self._opened:
            index.close()
