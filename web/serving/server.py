"""The HTTP server of the search UI, with as many connections as its file descriptors allow."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from opensearch_winnow.foundation.admission import ACCEPTED_AT_ONCE, Admission
from opensearch_winnow.web.serving.punctual_connection import PunctualConnection

MAX_CONNECTIONS = 1_000  # a browser has 6; waiting requests are counted elsewhere
OTHER_DESCRIPTORS = 96 + ACCEPTED_AT_ONCE  # for stores, connections to them, files, and connections about to be closed
GRACE_SECONDS = 3  # for questions in progress when the server is stopped
BUSY = b'{"error":"The server has too many connections: try again in a moment."}'
BUSY_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 2\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(BUSY), BUSY)
)


class AdmittingServer(uvicorn.Server):
    """Serves an application at a listening socket.

    If there are too many connections, the one that has kept the server waiting longest makes room.
    """

    def __init__(
        self, app: ASGIApp, listener: socket.socket, *, max_connections: int = MAX_CONNECTIONS, **config: Any
    ) -> None:
        super().__init__(uvicorn.Config(app, **{"http": PunctualConnection, **config}))
        self._admission = Admission(
            listener,
            most=affordable_connections(max_connections),
            busy=BUSY_RESPONSE,
            log=logging.getLogger("opensearch_winnow.web"),
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets or [])
        if not self.should_exit:
            await self._admission.accept_with(self._new_connection).__aenter__()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._admission.__aexit__()
        await super().shutdown(sockets)

    def _new_connection(self) -> PunctualConnection:
        new = cast("type[PunctualConnection]", self.config.http_protocol_class)
        connection = new(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        connection.closed = self._admission.forget
        return connection


def serve(app: Starlette, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal ends it gracefully; a second one ends it at once. Calls `ready` when it accepts requests."""

    class Server(AdmittingServer):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, app.state.cancel_questions)
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit:  # the second signal; every write to a store survives this
                os._exit(128 + sig)
            super().handle_exit(sig, frame)

    Server(
        app,
        listener,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS + 2,
    ).run()


def affordable_connections(wanted: int) -> int:
    """Raise the process's limit of descriptors as far as it is useful, and return the connections that it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    useful = wanted + OTHER_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= useful:
        return wanted
    allowed = useful if hard == resource.RLIM_INFINITY else min(useful, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(1, allowed - OTHER_DESCRIPTORS)
