"""Closes connections whose client keeps the server waiting: idle ones, and those that send or read too slowly."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

CHECK_SECONDS = 10.0  # between two looks at a connection
MIN_BYTES = 10_000  # that must have been sent or read between them: 1 kB/s


class PunctualConnection(H11Protocol):
    """An HTTP connection that is closed unless each request arrives, and each answer is read, without much delay.

    At every look, a client that has a request to begin must have sent its head since the last one; a client that is
    sending a body, or has an answer to read, must have moved MIN_BYTES. uvicorn itself closes connections that stay
    idle after an answer, but waits without end for a first request, and for the rest of one.
    """

    check_seconds = CHECK_SECONDS
    _timer: asyncio.TimerHandle
    _last_cycle: object = None
    _received = _received_before = _unsent_before = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.check_seconds, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def _check(self) -> None:
        if self._is_late():
            self.transport.abort()
            return
        self._last_cycle, self._received_before = self.cycle, self._received
        self._unsent_before = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.check_seconds, self._check)

    def _is_late(self) -> bool:
        if self._unsent_before:
            return self._unsent_before - self.transport.get_write_buffer_size() < min(MIN_BYTES, self._unsent_before)
        if self.conn.their_state is h11.IDLE:
            return self.cycle is self._last_cycle
        return self.conn.their_state is h11.SEND_BODY and self._received - self._received_before < MIN_BYTES
