"""Runs worker processes side by side and yields their results in the order of the sources."""

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
from opensearch_winnow.ingest.runs.worker import Job, Message, Task, work
from opensearch_winnow.ingest.sources.split import Damage, Split

# Spawned, not forked: a fork copies locks that a thread of the parent may hold.
SPAWN = get_context("spawn")
# Only the first split may yield results; meanwhile the workers go on with the next ones.
PLANNED_SPLITS_PER_WORKER = 2
STOP_CHECK_SECONDS = 0.2


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
    """A worker process could not start."""


@dataclass(slots=True, eq=False)
class _SplitProgress:
    """A split with the results that a worker has sent so far."""

    split: Split
    messages: deque[Message] = field(default_factory=deque)
    items: int = 0  # number of items with a result
    offset: int = 0  # where the last of them starts; when finished, where reading stopped
    finished: bool = False
    deadly: dict[int, str] = field(default_factory=dict)  # items that ended a worker: their numbers, and the causes

    def receive(self, message: Message) -> None:
        self.messages.append(message)
        self.items += len(message.results)
        self.offset = message.offset
        self.finished = message.finished

    def died(self, item: int, cause: str) -> None:
        """Leave out the item that ended the worker; if it ends a second one, leave out the rest of the split."""
        if item not in self.deadly:
            self.deadly[item] = cause
        else:
            rest = self.split.size - self.split.bytes_before(self.offset)
            end = self.split.end if self.split.end is not None else self.offset + rest
            self.receive(Message([Damage(rest, cause, self.offset)], 0, end, finished=True))

    def after(self, previous: _SplitProgress) -> _SplitProgress:
        """Return this split with its true start: where reading stopped in `previous`, the split in front of it."""
        if (
            previous.split.path != self.split.path
            or previous.split.end != self.split.start
            or previous.offset == self.split.start
        ):
            return self
        corrected = _SplitProgress(replace(self.split, start=previous.offset))
        if self.split.end is not None and previous.offset >= self.split.end:
            corrected.receive(Message([], 0, previous.offset, finished=True))
        return corrected


class _WorkerProcess:
    """A worker process as its parent sees it."""

    def __init__(self, job: Job) -> None:
        self.connection, child_end = SPAWN.Pipe()
        self._current_item = SPAWN.RawValue("q", 0)
        self.process = SPAWN.Process(target=work, args=(job, child_end, self._current_item), daemon=True)
        with _without_main_module():
            self.process.start()
        child_end.close()
        self._cpu_seconds = job.cpu_seconds
        self.ready = False
        self._started = False
        self._task: _SplitProgress | None = None

    def give(self, task: _SplitProgress) -> None:
        self.ready = False
        self._task = task
        self._current_item.value = -1  # none yet
        with suppress(ConnectionError):  # if it has died, `listen` notices
            self.connection.send(Task(task.split, task.items, task.deadly))

    def listen(self) -> None:
        """Receive its messages. Raises EOFError if it has died."""
        while self.connection.poll():
            message = self.connection.recv()
            if message is None:
                self.ready = self._started = True
            elif self._task is not None:
                self._task.receive(message)
                if message.finished:
                    self._task = None

    def reap(self) -> _SplitProgress | None:
        """Clean up after a worker that died, and return the split that it left unfinished."""
        self.process.join()
        self.connection.close()
        cause = _cause_of_death(self.process.exitcode or 0, self._cpu_seconds)
        if not self._started:
            raise WorkerError(f"a worker process could not start: {cause}; its own message is above")
        if self._task is not None:
            self._task.died(self._current_item.value, cause)
        return self._task

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class WorkerPool:
    """Runs `count` worker processes. Use it as a context manager, which ends them on exit."""

    def __init__(self, count: int, job: Job) -> None:
        self._job = job
        self._workers = [_WorkerProcess(job) for _ in range(count)]
        self._order: deque[_SplitProgress] = deque()  # all planned splits; only the first may yield its results
        self._free: deque[_SplitProgress] = deque()  # planned splits that no worker has

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def work(self, splits: Iterable[Split], stop: Callable[[], bool]) -> Iterator[tuple[Split, Message]]:
        """Yield the results of `splits` in their order, until all are done or `stop` returns true."""
        coming = iter(splits)
        self._plan(coming)
        while self._order and not stop():
            for worker in self._workers:
                if worker.ready and self._free:
                    worker.give(self._free.popleft())
            self._listen()
            yield from self._messages(coming)

    @property
    def finished(self) -> bool:
        """True if all splits are done."""
        return not self._order

    def _plan(self, coming: Iterator[Split]) -> None:
        for split in islice(coming, PLANNED_SPLITS_PER_WORKER * len(self._workers) - len(self._order)):
            self._order.append(_SplitProgress(split))
            self._free.append(self._order[-1])

    def _listen(self) -> None:
        wait([worker.connection for worker in self._workers], STOP_CHECK_SECONDS)
        for i, worker in enumerate(self._workers):
            try:
                worker.listen()
            except (EOFError, ConnectionError):
                task = worker.reap()
                if task and task in self._order and not task.finished:
                    self._free.appendleft(task)
                self._workers[i] = _WorkerProcess(self._job)

    def _messages(self, coming: Iterator[Split]) -> Iterator[tuple[Split, Message]]:
        while self._order:
            first = self._order[0]
            while first.messages:
                yield first.split, first.messages.popleft()
            if not first.finished:
                return
            self._order.popleft()
            self._plan(coming)
            if self._order:
                self._correct(self._order[0], first)

    def _correct(self, task: _SplitProgress, previous: _SplitProgress) -> None:
        """Read `task` again if the split in front of it did not stop where `task` was thought to start."""
        corrected = task.after(previous)
        if corrected is not task:
            self._order[0] = corrected
            if task in self._free:
                self._free.remove(task)
            if not corrected.finished:
                self._free.appendleft(corrected)


def _cause_of_death(code: int, cpu_seconds: float) -> str:
    """Return why a page ended a worker, in words general enough to be counted."""
    if code == -signal.SIGPROF:
        return f"took over {cpu_seconds:g} s of CPU time"
    if code == -signal.SIGKILL:
        return "its worker was killed, perhaps for want of memory"
    return f"its worker died of signal {-code}" if code < 0 else f"its worker ended with code {code}"
