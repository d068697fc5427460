"""Closes connections whose client keeps the server waiting: idle ones, and those that send or read too slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from opensearch_winnow.foundation.client_pace import CHECK_SECONDS, is_too_slow

SILENT_SECONDS = 2.0  # without reading or sending, after which a client's connection may be closed to make room


class PunctualConnection(H11Protocol):
    """An HTTP connection that is closed unless each request arrives, and each answer is read, without much delay.

    It is closed if it makes no progress between two checks: if a client that may begin a request has not sent its head,
    or one that sends a body or has an answer to read has moved no bytes. uvicorn itself closes connections that stay
    idle after an answer, but waits without end for a first request, and for the rest of one.
    """

    check_seconds = CHECK_SECONDS
    closed: Callable[[PunctualConnection], None] | None = None  # is told when the connection is closed
    _timer: asyncio.TimerHandle
    _received_at = 0.0  # when something was received
    _unread_since: float | None = None  # when the client stopped reading
    _last_cycle: object = None
    _received = _received_before = _unsent_before = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._idle_since = self.loop.time()  # when the last answer ended, or the connection was accepted

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.check_seconds, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)
        if self.closed is not None:
            self.closed(self)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        self._received_at = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_since = self.loop.time()

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    def abort(self) -> None:
        """Close the connection at once; what has not been sent is lost."""
        self.transport.abort()

    def waiting_since(self, now: float) -> float | None:
        """Return the time since when the server has waited for the client; None while it answers a request."""
        if self.conn.their_state is h11.IDLE:
            return self._idle_since
        sends_body = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        since = self._received_at if sends_body else self._unread_since
        return since if since is not None and now - since >= SILENT_SECONDS else None

    def _check(self) -> None:
        if self.is_late(self.loop.time()):
            self.abort()
            return
        self._last_cycle, self._received_before = self.cycle, self._received
        self._unsent_before = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.check_seconds, self._check)

    def is_late(self, _now: float) -> bool:
        """Return whether the client has moved too few bytes since the last check."""
        if self._unsent_before:
            return is_too_slow(self._unsent_before - self.transport.get_write_buffer_size(), left=self._unsent_before)
        if self.conn.their_state is h11.IDLE:
            return self.cycle is self._last_cycle
        return self.conn.their_state is h11.SEND_BODY and is_too_slow(self._received - self._received_before)
