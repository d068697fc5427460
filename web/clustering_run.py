"""A clustering of the store that a visitor has started: in a thread of its own, one at a time."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.clustering import TELLING

LOG = logging.getLogger("opensearch_winnow.web")
STOPPED = "The clustering was stopped, and nothing was changed."
HALF_TOLD = "The clustering was stopped while the store was told of it, which may know a part only: cluster it again."
PATIENCE = 10  # seconds that the end of the server waits for one that is being stopped


class Stopped(Exception):  # noqa: N818 (no error: somebody wanted it)
    """Somebody has asked for it."""


class Running(NamedTuple):
    phase: str
    done: int
    total: int | None  # of this phase; None where nobody knows
    seconds: float  # since it was started
    stopping: bool


class ClusteringRun:
    """The one that is running, if one is; and why the last one did not come to its end."""

    def __init__(self, open_index: Callable[[], Index]) -> None:
        self._open_index = open_index
        self._lock = Lock()
        self._thread: Thread | None = None
        self._started = 0.0
        self._progress: tuple[str, int, int | None] = "starting", 0, None
        self._stopping = False
        self.failure = ""  # a sentence

    def start(self, threshold: float) -> None:
        """While one is running this does nothing."""
        with self._lock:
            if self._is_running():
                return
            self._started, self._stopping, self.failure = time.monotonic(), False, ""
            self._progress = "starting", 0, None
            self._thread = Thread(target=self._run, args=[threshold], name="winnow-clustering", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """At its next step."""
        self._stopping = True

    def running(self) -> Running | None:
        if not self._is_running():
            return None
        return Running(*self._progress, time.monotonic() - self._started, self._stopping)

    def close(self) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, threshold: float) -> None:
        # Those who ask meanwhile have a processor, too, if there are two.
        threads = max((os.cpu_count() or 1) - 1, 1)
        try:
            with self._open_index() as index:
                index.cluster(threshold=threshold, threads=threads, progress=self._note)
        except Stopped:
            phase, done, _ = self._progress
            self.failure = HALF_TOLD if phase == TELLING and done else STOPPED
        except WinnowError as error:
            self.failure = f"The clustering was not done: {error}."
        except Exception:
            LOG.exception("could not cluster the store")
            self.failure = "The clustering was not done: something went wrong; the log of winnow serve has it."

    def _note(self, phase: str, done: int, total: int | None) -> None:
        self._progress = phase, done, total
        if self._stopping:
            raise Stopped
