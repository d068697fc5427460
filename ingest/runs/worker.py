"""The worker process: reads splits and makes records of their pages.

A page that takes too long, or that crashes a parser, ends the process, and only that page is lost. The kernel enforces
the limits. Of time: SIGPROF, left to its default action, ends a process in the middle of whatever it does. Of memory:
allocations fail, whatever a file says about its own size.
"""

from __future__ import annotations

import resource
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.runs.ledger import Unchanged
from opensearch_winnow.ingest.runs.pages_before_run import StoredCaptures
from opensearch_winnow.ingest.runs.tally import Result, wrong_dates_of
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import TOO_MUCH_MEMORY, Damage, Failed, Item, Split
from opensearch_winnow.mappings.record import capture_id

if TYPE_CHECKING:
    from ctypes import c_longlong
    from multiprocessing.connection import Connection

# What a worker may allocate while it reads and parses: the largest pages take 30 times their bytes, as measured, and
# Arrow unpacks a page of a Parquet column as a whole, whatever its size.
MEMORY_PER_PAGE_BYTE = 100
MIN_MEMORY_LIMIT = 1_000_000_000
_RESIDENT, _DATA = 1, 5  # indices of values in /proc/self/statm
MAX_RESULTS_PER_MESSAGE = 64
MAX_MESSAGE_SECONDS = 0.2  # between two messages, so that progress shows and a crash costs little work


@dataclass(frozen=True, slots=True)
class Job:
    """The settings that all workers of a run share."""

    recipe: Recipe
    cpu_seconds: float  # limit for one page
    stored_file: Path  # of PagesBeforeRun
    # Bytes at which a worker ends after its task: libxml2 never frees the names of elements and attributes, and each
    # site brings new ones.
    max_memory: int = 200_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """A split to read, from its item number `start` on."""

    split: Split
    start: int = 0
    deadly: dict[int, str] = field(default_factory=dict)  # items that ended a worker: their numbers, and the causes


class Message(NamedTuple):
    """The results of the next items of a task."""

    results: list[Result]
    content: int  # bytes of their pages
    offset: int  # where the last of them started, or where reading stopped
    finished: bool = False
    wrong_dates: tuple[str, ...] = ()  # of pages that become records, as their sources give them


def work(job: Job, connection: Connection, current_item: c_longlong) -> None:
    """Work on tasks until memory grows too large. After a crash, `current_item` tells the parent what caused it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but only the parent answers it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    try:
        worker = _Worker(job)
        _limit_memory(max(MIN_MEMORY_LIMIT, MEMORY_PER_PAGE_BYTE * job.recipe.max_page_size))
        full = False
        while not full:
            connection.send(None)  # ready
            worker.work_on(connection.recv(), connection, current_item)
            full = _memory() >= job.max_memory
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has gone


class _Worker:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._maker = RecordMaker(job.recipe)
        self._stored = StoredCaptures(job.stored_file)

    def work_on(self, task: Task, connection: Connection, current_item: c_longlong) -> None:
        results: list[Result] = []
        content, offset, sent = 0, task.split.start, time.monotonic()
        wrong_dates: list[str] = []
        current_item.value = 0
        try:
            for number, (offset, item) in enumerate(read(task.split, self._job.recipe.max_page_size)):
                if item is None:
                    break
                if number >= task.start:
                    results.append(self._result(item, offset, task.deadly.get(number)))
                    content += item.size if isinstance(item, Page) else 0
                    wrong_dates += wrong_dates_of([item], results[-1:])
                current_item.value = number + 1
                late = time.monotonic() - sent > MAX_MESSAGE_SECONDS
                risky = number + 1 in task.deadly  # the next item may end this worker too
                if len(results) >= MAX_RESULTS_PER_MESSAGE or (results and (late or risky)):
                    connection.send(Message(results, content, offset, wrong_dates=tuple(wrong_dates)))
                    results, content, sent, wrong_dates = [], 0, time.monotonic(), []
        except ConnectionError:
            raise
        except Exception as error:  # the run goes on without the rest of this split
            rest = task.split.size - task.split.bytes_before(offset)
            results.append(Damage(rest, _reason(error), offset))
            offset = task.split.end if task.split.end is not None else offset + rest
        connection.send(Message(results, content, offset, finished=True, wrong_dates=tuple(wrong_dates)))

    def _result(self, item: Item, offset: int, cause: str | None) -> Result:
        if isinstance(item, Damage):
            return replace(item, offset=offset)
        if not isinstance(item, Page):
            return item
        if cause:
            return Failed(item, cause)
        signal.setitimer(signal.ITIMER_PROF, self._job.cpu_seconds)
        try:
            return self._make(item)
        except Exception as error:  # the run goes on without this page
            return Failed(item, _reason(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _make(self, page: Page) -> Result:
        capture = capture_id(page.url, self._maker.time_of(page))
        try:
            stored = self._stored.content(capture)
        except WinnowError:  # not the fault of the page; the parent looks it up too, and reports the error
            stored = None
        if stored is not None and stored == self._maker.content_digest(page):
            return Unchanged(page.url, capture, stored)
        return self._maker.make(page)


def _reason(error: Exception) -> str:
    return TOO_MUCH_MEMORY if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"


def _limit_memory(limit: int) -> None:
    """Let allocations fail when this process has allocated `limit` bytes more than now."""
    with suppress(OSError, ValueError):  # no /proc, so a system that would not keep to it; or it has a lower limit
        resource.setrlimit(resource.RLIMIT_DATA, (_pages(_DATA) + limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _memory() -> int:
    """Return the memory of this process in bytes; its peak, where the present value is not known."""
    try:
        return _pages(_RESIDENT)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS, in bytes


def _pages(index: int) -> int:
    """Return a value of /proc/self/statm in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[index]) * resource.getpagesize()
