"""Accepts client connections, limits their number, and closes those of idle or slow clients."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from logging import Logger
from typing import Protocol, Self, cast

BACKLOG = 1_024  # connections that wait to be accepted: clients open many at once
# Connections that are accepted before other tasks get their turn. For a moment, as many more than the limit may be
# open, until others are closed to make room.
ACCEPTED_AT_ONCE = 32
SCAN_SECONDS = 0.1  # to the next look at all connections, if none could make room
PAUSE_SECONDS = 1.0  # after an error of the system
LOG_SECONDS = 3_600.0  # between two lines in the log that say the same


class AdmittedConnection(Protocol):
    """A connection that knows how long its client has kept the server waiting. It is also an asyncio protocol."""

    @property
    def transport(self) -> asyncio.BaseTransport | None:
        """The transport; None before a TLS handshake has ended and after the connection was closed."""

    def waiting_since(self, now: float) -> float | None:
        """Return the time since when the server has waited for the client; None while it answers a request."""

    def is_late(self, now: float) -> bool:
        """Return whether the client takes too long. Must be called every `check_seconds`."""

    def abort(self) -> None:
        """Close the connection at once; what has not been sent is lost."""


class Admission:
    """Accepts connections while it is used in `async with`.

    If too many are open, the one that has kept the server waiting longest makes room. A request that is being answered
    never does: if there is nothing else, the new connection gets status 503.
    """

    def __init__(
        self,
        listener: socket.socket,
        *,
        most: int,
        busy: bytes,
        log: Logger,
        tls: ssl.SSLContext | None = None,
        handshake_seconds: float | None = None,
        check_seconds: float | None = None,
    ) -> None:
        """At most `most` connections are open; further ones get the response `busy`. With `check_seconds`, late
        connections are closed at this interval."""
        self._listener = listener
        self._most = most
        self._busy = busy
        self._log = log
        self._tls = tls
        self._handshake_seconds = handshake_seconds if tls is not None else None
        self._check_seconds = check_seconds
        self._new: Callable[[], AdmittedConnection] | None = None
        self._open: dict[AdmittedConnection, socket.socket] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self._to_close: list[tuple[float, AdmittedConnection]] = []  # to make room, the last one first
        self._next_scan = 0.0
        self._logged: dict[str, float] = {}

    def accept_with(self, new: Callable[[], AdmittedConnection]) -> Self:
        """Accept connections with a protocol that `new` makes."""
        self._new = new
        return self

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
        self._loop.add_reader(self._listener, self._accept)
        self._accepts = True
        if self._check_seconds is not None:
            self._watch = self._loop.create_task(self._close_late_ones(self._check_seconds))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._accepts = False
        self._loop.remove_reader(self._listener)
        for task in self._tasks:
            task.cancel()
        if self._check_seconds is not None:
            self._watch.cancel()
        self._listener.close()  # clients that come now are refused at once

    def forget(self, connection: AdmittedConnection) -> None:
        """Note that a connection is closed."""
        self._open.pop(connection, None)

    # --- new connections ----------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            if len(self._open) >= self._most + ACCEPTED_AT_ONCE:
                return  # the connections to close are closed in the next round of the event loop
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # asyncio would print a traceback for each
                self._say(f"no connection can be accepted for the moment: {error.strerror}")
                self._loop.remove_reader(self._listener)
                self._loop.call_later(PAUSE_SECONDS, self._go_on)
                return
            accepted.setblocking(False)
            if len(self._open) < self._most or self._make_room():
                self._admit(accepted)
            else:
                self._refuse(accepted)

    def _go_on(self) -> None:
        if self._accepts:
            self._loop.add_reader(self._listener, self._accept)

    def _admit(self, accepted: socket.socket) -> None:
        assert self._new is not None
        connection = self._new()
        self._open[connection] = accepted
        task: asyncio.Task[object] = self._loop.create_task(
            self._loop.connect_accepted_socket(
                lambda: cast("asyncio.BaseProtocol", connection),
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=self._handshake_seconds,
            )
        )
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._connected(done, connection))

    def _connected(self, task: asyncio.Task[object], connection: AdmittedConnection) -> None:
        self._tasks.discard(task)
        if task.cancelled() or task.exception() is not None:  # no TLS, for example
            self.forget(connection)

    def _refuse(self, accepted: socket.socket) -> None:
        self._say(f"all {self._most:,} connections are busy: new ones get status 503")
        with accepted:
            if self._tls is None:
                with suppress(OSError):  # what is left unread would break the connection before the answer is read
                    accepted.recv(1 << 16)
                with suppress(OSError):
                    accepted.send(self._busy)

    # --- connections to close -----------------------------------------------------------------------------------------

    def _make_room(self) -> bool:
        """Close the connection that has kept the server waiting longest; return whether there is one."""
        now = self._loop.time()
        for scanned in (False, True):
            while self._to_close:
                since, connection = self._to_close.pop()
                if connection in self._open and connection.waiting_since(now) == since:
                    self._close(connection)
                    self._say(f"{self._most:,} connections are open: those that have waited longest make room")
                    return True
            if scanned or now < self._next_scan:
                break
            waiting = ((each.waiting_since(now), each) for each in self._open)
            found = [(since, each) for since, each in waiting if since is not None]
            self._to_close = sorted(found, key=lambda each: each[0], reverse=True)
            self._next_scan = now if found else now + SCAN_SECONDS
        return False

    def _close(self, connection: AdmittedConnection) -> None:
        if connection.transport is not None:
            connection.abort()
            return
        with suppress(OSError):  # ends a handshake, or the sending of the rest of an answer
            self._open[connection].shutdown(socket.SHUT_RDWR)

    async def _close_late_ones(self, check_seconds: float) -> None:
        closing: set[AdmittedConnection] = set()
        while True:
            await asyncio.sleep(check_seconds)
            now = self._loop.time()
            # Without a transport: in the middle of a handshake, or closed while the client has not read everything.
            closing_before, closing = closing, {each for each in self._open if each.transport is None}
            for connection in list(self._open):
                if connection in closing_before if connection in closing else connection.is_late(now):
                    self._close(connection)

    def _say(self, line: str) -> None:
        """Log a line, unless it was logged a short time ago."""
        now = time.monotonic()
        if now - self._logged.get(line, -LOG_SECONDS) >= LOG_SECONDS:
            self._logged[line] = now
            self._log.warning("%s", line)
