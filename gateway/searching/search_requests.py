"""Handles searches: the gateway answers grouped searches, and passes all others on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from opensearch_winnow.gateway.accepted_clients import AcceptedClients
from opensearch_winnow.gateway.attached import Found
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.engine_connection import EngineConnection
from opensearch_winnow.gateway.errors import GatewayError, error_answer, too_much_memory
from opensearch_winnow.gateway.headers import NOT_SENT, passed_headers
from opensearch_winnow.gateway.limits import Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget, Reservation
from opensearch_winnow.gateway.passing import pass_on, send_answer, send_on, streamed_body
from opensearch_winnow.gateway.request_body import UnreadError, decompressed, read_body
from opensearch_winnow.gateway.routes import Search
from opensearch_winnow.gateway.searching.client_search import may_be_ours
from opensearch_winnow.gateway.searching.group_options import is_ours, without_options
from opensearch_winnow.gateway.searching.grouped_msearch import grouped_msearch
from opensearch_winnow.gateway.searching.grouped_search import grouped_search, refusal
from opensearch_winnow.gateway.threads import one_at_a_time

MEMORY_PER_VALUE = 110  # bytes, decoded: a key with its string, which takes the most
MAX_BODY_WITH_EXT = 1024 * 1024  # bytes of a search in which `ext.winnow` is looked for; larger ones pass as a stream

Find = Callable[[web.BaseRequest, str], Awaitable[Found]]  # of an index, by the name that the client uses


class SearchRequests:
    """Answers grouped searches, and passes all others on to the engine."""

    def __init__(
        self, engine: EngineConnection, accepted: AcceptedClients, find: Find, limits: Limits, budget: MemoryBudget
    ) -> None:
        self._engine = engine
        self._accepted = accepted
        self._find = find
        self._limits = limits
        self._budget = budget
        self._turns = asyncio.Semaphore(limits.gateway_requests // 2)
        self._grouping = asyncio.Semaphore(limits.max_grouping)

    async def handle(self, request: web.BaseRequest, search: Search) -> web.StreamResponse:
        """Answer a request."""
        with self._budget.reservation() as memory:
            return await self._handle(request, search, memory)

    async def _handle(self, request: web.BaseRequest, search: Search, memory: Reservation) -> web.StreamResponse:
        path, _, written = request.raw_path.partition("?")
        query = dict(parse_qsl(written, keep_blank_values=True))
        named, limits = any(map(is_ours, query)), self._limits
        if named and not await self._accepted.accepts(request):
            return await self._pass_unread(request)
        max_bytes = limits.max_search_body
        sent = await read_body(request.content, max_bytes if named else MAX_BODY_WITH_EXT, memory)
        is_cheap = named or "content-encoding" not in request.headers  # others are unpacked for clients of the engine
        plain = None
        if isinstance(sent, bytes) and (is_cheap or await self._accepted.accepts(request)):
            with suppress(UnreadError):
                plain = await decompressed(request.headers, sent, max_bytes, limits, memory, is_search=True)
        if plain is not None and not self._is_affordable(plain, memory):
            plain = None
        if not named and not (
            await one_at_a_time(len(plain or b""), may_be_ours, search.kind, plain or b"")
            and await self._accepted.accepts(request)
        ):
            return await pass_on(request, self._engine, sent if request.can_read_body or sent else None, memory)
        if plain is None:
            return await send_answer(request, self._refusal(memory))
        answer = await self._answer(request, search, path, query, plain, memory)
        memory.shrink(len(answer.body))
        return await send_answer(request, answer)

    async def _pass_unread(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass on a grouped search of a client that the engine does not accept, so that the engine refuses it."""
        path, headers = without_options(request.raw_path), passed_headers(request.raw_headers, NOT_SENT)
        answer = await self._engine.open(request.method, path, headers, streamed_body(request))
        if answer.status != HTTPStatus.OK:
            return await send_on(request, answer)
        answer.close()  # the engine accepts the search, and its hits are not grouped
        reason = "this search cannot be grouped: the engine does not accept its credentials for GET /, or fails"
        return await send_answer(request, error_answer(HTTPStatus.FORBIDDEN, "security_exception", reason))

    def _is_affordable(self, body: bytes, memory: Reservation) -> bool:
        """Reserve memory to decode a body; return False if it has too many values, or memory is short."""
        keys, values = sum(map(body.count, (b"{", b"[", b":", b"\n"))), body.count(b",")
        if keys > self._limits.max_search_keys or values > self._limits.max_search_values:
            return False
        return memory.grow(MEMORY_PER_VALUE * (keys + values) + 2 * len(body))

    def _refusal(self, memory: Reservation) -> EngineAnswer:
        if memory.was_refused:
            return too_much_memory("other requests have taken the memory that this search needs").answer()
        return refusal(
            "a grouped search has a body of JSON, plain or with gzip, of at most"
            f" {self._limits.max_search_body:,} bytes, {self._limits.max_search_keys:,} keys and"
            f" {self._limits.max_search_values:,} values"
        )

    async def _answer(
        self,
        request: web.BaseRequest,
        search: Search,
        path: str,
        query: Mapping[str, str],
        body: bytes,
        memory: Reservation,
    ) -> EngineAnswer:
        send_for_client = self._engine.send_for(request.raw_headers, memory)

        async def send(method: str, path: str, body: bytes | dict[str, Any] | list[Any] | None) -> EngineAnswer:
            async with self._turns:
                return await send_for_client(method, path, body)

        def find(name: str) -> Awaitable[Found]:
            return self._find(request, name)

        async with self.turn():
            if search.kind == "search":
                return await grouped_search(path, query, body, find, send)
            return await grouped_msearch(path, query, body, find, send, self._limits.max_searches)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until fewer requests are being grouped; raises GatewayError if that takes too long."""
        try:
            async with asyncio.timeout(self._limits.turn_seconds):
                await self._grouping.acquire()
        except TimeoutError:
            reason = f"{self._limits.max_grouping} grouped searches are in progress, and more are waiting; try again"
            raise GatewayError(HTTPStatus.TOO_MANY_REQUESTS, "rejected_execution_exception", reason) from None
        try:
            yield
        finally:
            self._grouping.release()
