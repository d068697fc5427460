"""Asks the engine whether it accepts the credentials of a client, before the gateway works for it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from http import HTTPStatus

from aiohttp import web

from opensearch_winnow.gateway.engine_connection import EngineConnection
from opensearch_winnow.gateway.headers import client_of

REMEMBERED_SECONDS = 1.0  # for a client that loads documents, one small request among some hundred
TRIES = 2  # an idle connection may break at the moment in which it is used
MAX_CLIENTS = 10_000  # to remember: whoever invents credentials is a new client each time


class AcceptedClients:
    """Answers whether the engine accepts a client, and remembers what the engine has said for a second.

    That is never an answer to the client. What it may do with a request is for the engine to say, with its own
    answer to that request.
    """

    def __init__(self, engine: EngineConnection) -> None:
        self._engine = engine
        self._checks: dict[bytes, tuple[float, asyncio.Task[bool]]] = {}  # the oldest first

    async def accepts(self, request: web.BaseRequest) -> bool:
        """Return whether the engine accepts the credentials of a request, whatever it lets them do.

        False if nobody knows: then the request passes unread, and the engine decides.
        """
        client, now = client_of(request.raw_headers), time.monotonic()
        end, task = self._checks.get(client, (0.0, None))
        if task is None or end < now:
            self._forget(now)
            task = asyncio.create_task(self._ask(request, client))
            self._checks.pop(client, None)
            self._checks[client] = (now + REMEMBERED_SECONDS, task)
        return await asyncio.shield(task)  # others may wait for it too

    async def _ask(self, request: web.BaseRequest, client: bytes) -> bool:
        send = self._engine.send_for(request.raw_headers)
        for _ in range(TRIES):
            with suppress(Exception):
                return (await send("GET", "/", None)).status != HTTPStatus.UNAUTHORIZED
        self._checks.pop(client, None)  # the next request asks again: when the engine is back, documents get fields
        return False  # nobody knows: if the engine is gone, the request itself says so

    def _forget(self, now: float) -> None:
        while self._checks:
            client, (end, _) = next(iter(self._checks.items()))
            if end >= now and len(self._checks) < MAX_CLIENTS:
                return
            del self._checks[client]
