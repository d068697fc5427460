"""Runs work in a process of its own, and measures its processor time, memory and disk space."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

# Spawned, because a fork has the memory of its parent but not the threads of DuckDB and Arrow.
PROCESSES = get_context("spawn")
DISK_INTERVAL_SECONDS = 0.2  # between two measurements of the disk

Value = TypeVar("Value")


class Taken(NamedTuple):
    """Resources that some work took."""

    seconds: float  # by the clock
    cpu: float  # seconds of all threads and child processes
    memory: int  # peak of the whole process, in bytes
    disk: int  # peak size of the folder, in bytes


def in_own_process(
    prepare: Callable[..., Callable[[], Value]], *arguments: Any, folder: Path | None = None
) -> tuple[Value, Taken]:
    """Call the function that `prepare` returns, and return its result and what it took, without `prepare` itself."""
    disk = 0
    with ProcessPoolExecutor(1, PROCESSES) as pool:
        done = pool.submit(_measured, prepare, arguments)
        while wait([done], DISK_INTERVAL_SECONDS).not_done:
            disk = max(disk, _size(folder) if folder else 0)
        value, seconds, cpu, memory = done.result()
    return value, Taken(seconds, cpu, memory, disk)


def _measured(
    prepare: Callable[..., Callable[[], Value]], arguments: tuple[Any, ...]
) -> tuple[Value, float, float, int]:
    work = prepare(*arguments)
    start, cpu = time.monotonic(), _cpu()
    value = work()
    return value, time.monotonic() - start, _cpu() - cpu, peak_memory()


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak_memory() -> int:
    """Return the peak memory in bytes. On Linux ru_maxrss would include the memory of the parent at the start."""
    status = Path("/proc/self/status")
    if status.exists():
        (peak,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _size(folder: Path) -> int:
    size = 0
    for below, _, names in os.walk(folder):  # ignores folders that disappear meanwhile
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(below, name).stat().st_blocks * 512
    return size
