"""Runs the gateway until it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from logging import LogRecord, getLogger

from aiohttp import HttpVersion, HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

from opensearch_winnow.foundation.admission import Admission
from opensearch_winnow.gateway.engine_connection import MAX_HEADER_BYTES, EngineConnection
from opensearch_winnow.gateway.errors import error_answer
from opensearch_winnow.gateway.limits import Limits, affordable_connections
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.serving.client_connection import ClientConnection
from opensearch_winnow.gateway.serving.odd_http import other_version
from opensearch_winnow.gateway.serving.proxy import Proxy
from opensearch_winnow.stores.opensearch.requests.client import Address

# The longest time that a thread runs Python while the event loop waits for its turn. One request takes many turns.
SWITCH_SECONDS = 0.001
GRACE_SECONDS = 10.0  # for requests in progress when the gateway is stopped
DEFAULT_LIMITS = Limits()


def _is_our_fault(record: LogRecord) -> bool:
    """Return whether to log an error: not if a client left, or sent something other than HTTP, as port scanners do."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError | ConnectionError)


class _Connection(ClientConnection):
    """A connection that refuses malformed HTTP in the form of engines."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        request = self._current_request
        if request is None or request.content.is_eof() or not self._messages:
            return
        # A message before the body of a request has ended is an error in that body. aiohttp would answer it after the
        # request, which waits for ever for the rest of its body.
        self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        super().handle_error(request, status, exc, message)  # logs it
        reason = (message or "the request cannot be read").partition("\n")[0].rstrip(":")
        if "PRI/Upgrade" in reason:  # the first line of a client that begins with HTTP/2
            status, reason = 505, other_version(HttpVersion(2, 0))
        request._version = HttpVersion11  # aiohttp would answer unreadable requests with HTTP/1.0
        answer = error_answer(status, "illegal_argument_exception", reason)
        headers = {**answer.headers, "server": "winnow"}  # aiohttp would name itself and Python, with their versions
        response = web.Response(status=status, body=answer.body, headers=headers)
        response.force_close()
        return response


class _Server(web.Server):
    def __call__(self) -> ClientConnection:
        return _Connection(self, loop=self._loop, **self._kwargs)


def _busy() -> bytes:
    answer = error_answer(503, "rejected_execution_exception", "the gateway has too many connections; try again")
    head = f"HTTP/1.1 503 Service Unavailable\r\ncontent-type: {answer.headers['content-type']}\r\n"
    return f"{head}content-length: {len(answer.body)}\r\nconnection: close\r\n\r\n".encode() + answer.body


@asynccontextmanager
async def running(
    address: Address,
    listener: socket.socket,
    *,
    tls: ssl.SSLContext | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> AsyncIterator[None]:
    """Pass requests on to the engine inside this context. At its end, requests in progress are answered."""
    logger = getLogger("winnow.gateway.http")
    logger.addFilter(_is_our_fault)
    limits = replace(limits, max_connections=affordable_connections(limits))
    budget = MemoryBudget(limits.memory)
    admission = Admission(
        listener,
        most=limits.max_connections,
        busy=_busy(),
        log=getLogger("winnow.gateway"),
        tls=tls,
        handshake_seconds=limits.head_seconds,
        check_seconds=limits.check_seconds,
    )
    async with EngineConnection(address, limits) as engine:
        server = _Server(
            Proxy(engine, limits, budget).handle,
            handler_cancellation=True,  # if the client goes away, so does its request to the engine
            auto_decompress=False,
            access_log=None,
            logger=logger,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            limits=limits,
            budget=budget,
            closed=admission.forget,
        )
        runner = web.ServerRunner(server, shutdown_timeout=GRACE_SECONDS)
        await runner.setup()
        try:
            async with admission.accept_with(server):
                yield
        finally:
            await runner.cleanup()


async def serve(
    address: Address,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    tls: ssl.SSLContext | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Pass requests on to the engine until SIGINT or SIGTERM. A second signal ends the process at once."""
    stop = asyncio.Event()

    def stopping(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    sys.setswitchinterval(SWITCH_SECONDS)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping, number)
    async with running(address, listener, tls=tls, limits=limits):
        ready()
        await stop.wait()
