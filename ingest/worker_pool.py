"""Workers side by side; what they make comes out in the order of the sources, whoever was quicker."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import Any, Self

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.sources.split import Damage, Split
from opensearch_winnow.ingest.worker import Job, Message, Task, work

# Not forked: a fork copies locks that a thread of the parent may hold.
PROCESSES = get_context("spawn")
AHEAD = 2  # splits a worker that are planned: the others need not wait for the first, which alone may speak
LOOK_UP_EVERY = 0.2  # seconds, to see whether we are to stop


def available_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Keep spawned processes from importing `__main__` again, which they do by its name or its file.

    Workers need nothing from it. Without this, a script that indexes at its top level would index once more in every
    worker, and `multiprocessing` would refuse; a guard `if __name__ == "__main__":` would be needed.
    """
    main = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {name: main[name] for name in ("__spec__", "__file__") if name in main}
    main["__spec__"] = None
    main.pop("__file__", None)
    try:
        yield
    finally:
        main.update(hidden)


class WorkerError(WinnowError):
    """A worker that could not start."""


@dataclass(slots=True, eq=False)
class _Share:
    """A split, and what is known of it so far."""

    split: Split
    messages: deque[Message] = field(default_factory=deque)
    items: int = 0  # that have a result
    offset: int = 0  # of the last of them
    stopped: bool = False  # it is read, up to the offset
    deadly: dict[int, str] = field(default_factory=dict)

    def receive(self, message: Message) -> None:
        self.messages.append(message)
        self.items += len(message.results)
        self.offset = message.offset
        self.stopped = message.finished

    def died(self, item: int, how: str) -> None:
        """Leave this item out; or all the rest, if that does not help."""
        if item not in self.deadly:
            self.deadly[item] = how
        else:
            rest = self.split.size - self.split.bytes_before(self.offset)
            end = self.split.end if self.split.end is not None else self.offset + rest
            self.receive(Message([Damage(rest, how, self.offset)], 0, end, finished=True))

    def after(self, before: _Share) -> _Share:
        """The share from its true start, which is known for certain once all before it is read."""
        if (
            before.split.path != self.split.path
            or before.split.end != self.split.start
            or before.offset == self.split.start
        ):
            return self
        true = _Share(replace(self.split, start=before.offset))
        if self.split.end is not None and before.offset >= self.split.end:
            true.receive(Message([], 0, before.offset, finished=True))
        return true


class _Worker:
    """A worker as its parent sees it."""

    def __init__(self, job: Job) -> None:
        self.connection, theirs = PROCESSES.Pipe()
        self._in_hand = PROCESSES.RawValue("q", 0)
        self.process = PROCESSES.Process(target=work, args=(job, theirs, self._in_hand), daemon=True)
        with _without_main_module():
            self.process.start()
        theirs.close()
        self._cpu_seconds = job.cpu_seconds
        self.ready = False
        self._started = False
        self._share: _Share | None = None

    def give(self, share: _Share) -> None:
        self.ready = False
        self._share = share
        self._in_hand.value = -1  # nothing, until it has begun
        with suppress(ConnectionError):  # it is dead, which will show when we listen
            self.connection.send(Task(share.split, share.items, share.deadly))

    def listen(self) -> None:
        """Take what it has said; EOFError if it is dead."""
        while self.connection.poll():
            message = self.connection.recv()
            if message is None:
                self.ready = self._started = True
            elif self._share is not None:
                self._share.receive(message)
                if message.finished:
                    self._share = None

    def bury(self) -> _Share | None:
        """What it has left undone."""
        self.process.join()
        self.connection.close()
        how = _cause(self.process.exitcode or 0, self._cpu_seconds)
        if not self._started:
            raise WorkerError(f"a worker could not start: {how}; what it said stands above")
        if self._share is not None:
            self._share.died(self._in_hand.value, how)
        return self._share

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class WorkerPool:
    """So many workers. Used as a context: they are gone when it is left."""

    def __init__(self, count: int, job: Job) -> None:
        self._job = job
        self._workers = [_Worker(job) for _ in range(count)]
        self._order: deque[_Share] = deque()  # of which the first may speak, and the others wait for it
        self._free: deque[_Share] = deque()  # those of them that no worker has

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def work(self, splits: Iterable[Split], stop: Callable[[], bool]) -> Iterator[tuple[Split, Message]]:
        """What becomes of the splits, in their order, until all is done or we are to stop."""
        coming = iter(splits)
        self._plan(coming)
        while self._order and not stop():
            for worker in self._workers:
                if worker.ready and self._free:
                    worker.give(self._free.popleft())
            self._listen()
            yield from self._spoken(coming)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return not self._order

    def _plan(self, coming: Iterator[Split]) -> None:
        for split in islice(coming, AHEAD * len(self._workers) - len(self._order)):
            self._order.append(_Share(split))
            self._free.append(self._order[-1])

    def _listen(self) -> None:
        wait([worker.connection for worker in self._workers], LOOK_UP_EVERY)
        for place, worker in enumerate(self._workers):
            try:
                worker.listen()
            except (EOFError, ConnectionError):
                share = worker.bury()
                if share and share in self._order and not share.stopped:
                    self._free.appendleft(share)
                self._workers[place] = _Worker(self._job)

    def _spoken(self, coming: Iterator[Split]) -> Iterator[tuple[Split, Message]]:
        while self._order:
            first = self._order[0]
            while first.messages:
                yield first.split, first.messages.popleft()
            if not first.stopped:
                return
            self._order.popleft()
            self._plan(coming)
            if self._order:
                self._correct(self._order[0], first)

    def _correct(self, share: _Share, before: _Share) -> None:
        """Read a split again from where the one before it stopped, if that is not where it was thought to start."""
        true = share.after(before)
        if true is not share:
            self._order[0] = true
            if share in self._free:
                self._free.remove(share)
            if not true.stopped:
                self._free.appendleft(true)


def _cause(code: int, cpu_seconds: float) -> str:
    """Why a page ended a worker, in few words that can be counted."""
    if code == -signal.SIGPROF:
        return f"took over {cpu_seconds:g} s of CPU time"
    if code == -signal.SIGKILL:
        return "its worker was killed, perhaps for want of memory"
    return f"its worker died of signal {-code}" if code < 0 else f"its worker ended with code {code}"
