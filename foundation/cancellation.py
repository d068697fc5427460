"""Cancels work whose answer is no longer needed: the caller sets an event, and long loops check it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

from opensearch_winnow.foundation.errors import WinnowError

_event: ContextVar[Event | None] = ContextVar("cancelled", default=None)


class CancelledError(WinnowError):
    """Work that was cancelled before it was done."""


@contextmanager
def cancelled_by(event: Event) -> Iterator[None]:
    """Raise a CancelledError inside the block at the next `check_cancelled` after `event` is set."""
    before = _event.set(event)
    try:
        yield
    finally:
        _event.reset(before)


def check_cancelled() -> None:
    """Raise a CancelledError if this work was cancelled. Every loop over pages or requests should call this."""
    event = _event.get()
    if event is not None and event.is_set():
        raise CancelledError("cancelled: the answer is no longer needed")
