"""Threads that write documents while something happens to the gateway, or to its indices."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread


class Loader(Thread):
    """Writes again and again until it is told to end. What it raises is raised by `loading`."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.ended = Event()
        self.acknowledged = 0
        self.error: BaseException | None = None

    def write(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        try:
            while not self.ended.is_set():
                self.write()
        except BaseException as error:
            self.error = error


@contextmanager
def loading(loaders: Sequence[Loader]) -> Iterator[None]:
    """Let all of them write meanwhile."""
    for loader in loaders:
        loader.start()
    try:
        yield
    finally:
        for loader in loaders:
            loader.ended.set()
        for loader in loaders:
            loader.join()
    for loader in loaders:
        if loader.error:
            raise loader.error


def wait_for_writes(loaders: Sequence[Loader]) -> None:
    """Wait until something that each of them writes from now on is acknowledged."""
    before = [loader.acknowledged for loader in loaders]
    while any(each.acknowledged == one and each.is_alive() for each, one in zip(loaders, before, strict=True)):
        time.sleep(0.01)
