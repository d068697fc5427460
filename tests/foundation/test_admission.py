"""Connections are accepted again after the system had no descriptor for them, and the log has one line about it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from typing import Any

import pytest

from opensearch_winnow.foundation import admission
from opensearch_winnow.foundation.admission import Admission


class Exhausted(socket.socket):
    """A socket that accepts nothing a few times, because there are no descriptors left."""

    failures = 5

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


class Greeting(asyncio.Protocol):
    """Says hello, and waits."""

    transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(b"hello")

    def waiting_since(self, now: float) -> float | None:
        return now

    def is_late(self, now: float) -> bool:  # noqa: ARG002
        return False

    def abort(self) -> None:
        assert self.transport is not None
        self.transport.abort()


def test_a_lack_of_descriptors_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(admission, "PAUSE_SECONDS", 0.01)

    async def greeted() -> bytes:
        with Exhausted() as listener:
            listener.bind(("127.0.0.1", 0))
            door = Admission(listener, most=5, busy=b"", log=logging.getLogger("door"))
            async with door.accept_with(Greeting):
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                greeting = await reader.read(5)
                writer.close()
                assert listener.failures == 0
                return greeting

    assert asyncio.run(greeted()) == b"hello"
    (said,) = caplog.messages
    assert said.startswith("no connection can be accepted for the moment: ")
    assert os.strerror(errno.EMFILE) in said
