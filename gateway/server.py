"""Runs the gateway until it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from logging import LogRecord, getLogger

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from opensearch_winnow.gateway.cluster import MAX_HEADER_BYTES, Cluster
from opensearch_winnow.gateway.errors import error_answer
from opensearch_winnow.gateway.proxy import MAX_BODY, Proxy
from opensearch_winnow.stores.opensearch.client import Address

GRACE_SECONDS = 10.0  # for requests in progress when the gateway is stopped
BACKLOG = 1_024  # connections that wait to be accepted: clients open many at once


def _is_our_fault(record: LogRecord) -> bool:
    """Whether to log an error: not if a client sent something that is not HTTP, which scanners of ports do all day."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


class _Connection(RequestHandler):
    """A connection that answers what is not HTTP in the form of engines."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        request = self._current_request
        if request is None or request.content.is_eof() or not self._messages:
            return
        # What follows a request before its body has ended is an error in that body. aiohttp would answer it after the
        # request, which waits for the rest of its body for ever.
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
        answer = error_answer(status, "illegal_argument_exception", reason)
        response = web.Response(status=status, body=answer.body, headers=answer.headers)
        response.force_close()
        return response


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


@asynccontextmanager
async def running(
    address: Address, listener: socket.socket, *, tls: ssl.SSLContext | None = None, max_body: int = MAX_BODY
) -> AsyncIterator[None]:
    """Pass requests on to the cluster inside this context. At its end, requests in progress are answered."""
    logger = getLogger("winnow.gateway.http")
    logger.addFilter(_is_our_fault)
    async with Cluster(address) as cluster:
        server = _Server(
            Proxy(cluster, max_body=max_body).handle,
            handler_cancellation=True,  # if the client goes away, so does its request to the engine
            auto_decompress=False,
            access_log=None,
            logger=logger,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        runner = web.ServerRunner(server, shutdown_timeout=GRACE_SECONDS)
        await runner.setup()
        try:
            await web.SockSite(runner, listener, ssl_context=tls, backlog=BACKLOG).start()
            yield
        finally:
            await runner.cleanup()


async def serve(
    address: Address,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    tls: ssl.SSLContext | None = None,
    max_body: int = MAX_BODY,
) -> None:
    """Pass requests on to the cluster until SIGINT or SIGTERM. A second signal ends the process at once."""
    stop = asyncio.Event()

    def stopping(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping, number)
    async with running(address, listener, tls=tls, max_body=max_body):
        ready()
        await stop.wait()
