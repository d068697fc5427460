"""A real OpenSearch for a benchmark: one node on this machine, which stops at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port


class Took(NamedTuple):
    """The time that some work took: seconds by the clock, and CPU seconds of the engine and of this process."""

    seconds: float
    engine: float
    here: float


class Engine(NamedTuple):
    url: str
    process: psutil.Process


def timed(work: Callable[[], object], engine: Engine | None = None) -> Took:
    def now() -> Took:
        of_engine = sum(engine.process.cpu_times()[:2]) if engine else 0.0
        return Took(time.perf_counter(), of_engine, time.process_time())

    before = now()
    work()
    return Took(*(after - start for start, after in zip(before, now(), strict=True)))


@contextmanager
def local_engine(
    home: Path | None = None, *, heap: str = "1g", settings: Mapping[str, str] | None = None
) -> Iterator[Engine]:
    """Start an engine, whose data are removed at the end unless `home` is given."""
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        engine = LocalEngine(home or Path(folder, "engine"))
        running = engine.start(heap=heap, port=free_port(), owner=os.getpid(), settings=settings)
        try:
            yield Engine(running.url, psutil.Process(running.nodes[0].pid))
        finally:
            engine.stop()
