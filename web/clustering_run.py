"""Runs a clustering that a visitor has started, in its own thread and one at a time."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from threading import Lock, Thread

from opensearch_winnow.answers.clusters.store_clusters import RunningClustering
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.clusters.clustering import WRITING_BACK

LOG = logging.getLogger("opensearch_winnow.web")
STOPPED = "The clustering was stopped. Nothing has changed."
PARTLY_UPDATED = "The clustering was stopped while the store was updated. Some clusters may be old: cluster it again."
STOP_TIMEOUT_SECONDS = 10  # the server waits this long for a run to stop when it shuts down


class ClusteringStopped(Exception):  # noqa: N818 (not an error)
    """Raised in a run that a visitor has stopped."""


class ClusteringRun:
    """Starts and stops the run, reports its progress, and keeps the reason why the last one failed."""

    def __init__(self, open_index: Callable[[], Index], when_done: Callable[[], None] = lambda: None) -> None:
        """`when_done` is called after each run, also after one that failed."""
        self._open_index = open_index
        self._when_done = when_done
        self._lock = Lock()
        self._thread: Thread | None = None
        self._started = 0.0
        self._progress: tuple[str, int, int | None] = "starting", 0, None
        self._stopping = False
        self.failure = ""  # why the last run failed, in a sentence

    def start(self, threshold: float) -> None:
        """Start a run, unless one is running."""
        with self._lock:
            if self._is_running():
                return
            self._started, self._stopping, self.failure = time.monotonic(), False, ""
            self._progress = "starting", 0, None
            self._thread = Thread(target=self._run, args=[threshold], name="winnow-clustering", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the run at its next step."""
        self._stopping = True

    def running(self) -> RunningClustering | None:
        """Return the progress of the run, or None if none is running."""
        if not self._is_running():
            return None
        return RunningClustering(*self._progress, time.monotonic() - self._started, self._stopping)

    def close(self) -> None:
        """Stop the run, and wait for its end."""
        self.stop()
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT_SECONDS)

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, threshold: float) -> None:
        # Leave a processor for searches, if there are two.
        threads = max((os.cpu_count() or 1) - 1, 1)
        try:
            with self._open_index() as index:
                index.cluster(threshold=threshold, threads=threads, progress=self._note)
        except ClusteringStopped:
            phase, done, _ = self._progress
            self.failure = PARTLY_UPDATED if phase == WRITING_BACK and done else STOPPED
        except WinnowError as error:
            self.failure = f"The clustering failed: {error}."
        except Exception:
            LOG.exception("could not cluster the store")
            self.failure = "The clustering failed. The log of winnow serve has the reason."
        finally:
            self._when_done()

    def _note(self, phase: str, done: int, total: int | None) -> None:
        self._progress = phase, done, total
        if self._stopping:
            raise ClusteringStopped
