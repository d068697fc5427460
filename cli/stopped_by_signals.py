"""Lets Ctrl-C and SIGTERM stop a run at the next safe point."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = b"\nStopping; finished work is kept. Press Ctrl-C again to stop at once.\n"


@contextmanager
def stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether SIGINT or SIGTERM has arrived. A second signal interrupts at once."""
    signals: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if signals:
            raise KeyboardInterrupt
        signals.append(number)
        os.write(2, STOPPING)  # print() is not safe inside a signal handler

    before = {each: signal.signal(each, handle) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(signals)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
