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
MAX_CLIENTS = 10_000  # to remember: each invented password looks like a new client


class AcceptedClients:
    """Asks the engine whether it accepts a client, and remembers the result for a second.

    The result is never sent to the client: the engine itself answers each request, and decides what a client may do.
    """

    def __init__(self, engine: EngineConnection) -> None:
        self._engine = engine
        self._checks: dict[bytes, tuple[float, asyncio.Task[bool]]] = {}  # the oldest first

    async def accepts(self, request: web.BaseRequest) -> bool:
        """Return whether the engine accepts the credentials of a request, whatever their permissions.

        False if unknown: then the request passes unread, and the engine decides.
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
        return False  # unknown: if the engine is down, the request itself fails

    def _forget(self, now: float) -> None:
        while self._checks:
            client, (end, _) = next(iter(self._checks.items()))
            if end >= now and len(self._checks) < MAX_CLIENTS:
                return
            del self._checks[client]
