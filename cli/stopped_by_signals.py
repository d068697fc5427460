"""Ctrl-C, or a service manager, asks a run to stop at the next good place."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = b"\nStopping; what is done is kept. Ctrl-C again does not wait.\n"


@contextmanager
def stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Whether somebody wants us to stop: Ctrl-C, or a service manager. A second Ctrl-C does not wait."""
    signals: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if signals:
            raise KeyboardInterrupt
        signals.append(number)
        os.write(2, STOPPING)  # what is printed within a signal handler may not be whole

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(signals)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
