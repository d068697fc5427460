"""The gateway's proxy: passes requests on to the engine, and gives documents of attached indices winnow's fields."""

from __future__ import annotations

from logging import getLogger

import msgspec
from aiohttp import web
from aiohttp.http import HttpVersion11

from opensearch_winnow.gateway.accepted_clients import AcceptedClients
from opensearch_winnow.gateway.activity import Activity
from opensearch_winnow.gateway.attached import AttachedIndices, ClientIndices, Found
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.engine_connection import EngineConnection
from opensearch_winnow.gateway.errors import JSON, GatewayError
from opensearch_winnow.gateway.headers import client_of
from opensearch_winnow.gateway.limits import Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.passing import pass_on, send_answer, streamed_body
from opensearch_winnow.gateway.routes import Other, Search, Write, route_of
from opensearch_winnow.gateway.searching.search_requests import SearchRequests
from opensearch_winnow.gateway.serving.odd_http import OddHttpError, check_form
from opensearch_winnow.gateway.writing.write_requests import WriteRequests

GATEWAY_PATH = "/_winnow"  # answered by the gateway itself; no index can have this name

log = getLogger("winnow.gateway")


class Proxy:
    """Handles the requests of clients. One for each gateway."""

    def __init__(self, engine: EngineConnection, limits: Limits, budget: MemoryBudget) -> None:
        self._engine = engine
        self._accepted = AcceptedClients(engine)
        self._attached = AttachedIndices()
        self._activity = Activity()
        self._writes = WriteRequests(engine, self._indices, self._activity, limits, budget)
        self._searches = SearchRequests(engine, self._accepted, self._find, limits, budget)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        try:
            check_form(request)
            if request.headers.get("expect", "").lower() == "100-continue" and request.version >= HttpVersion11:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                request.writer.output_size = 0  # the answer itself has not begun
            if request.raw_path.partition("?")[0] == GATEWAY_PATH:
                return await send_answer(request, self._about())
            self._activity.count_request()
            match route_of(request.method, request.raw_path):
                case Write() as write if await self._accepted.accepts(request):
                    return await self._writes.handle(request, write)
                case Write() as write:
                    return await self._writes.pass_unread(request, write)
                case Search() as search:
                    return await self._searches.handle(request, search)
                case Other(changes_indices):
                    response = await pass_on(request, self._engine, streamed_body(request))
                    if changes_indices:
                        self._attached.forget()
                    return response
        except GatewayError as error:
            return await send_answer(request, error.answer(), is_last=isinstance(error, OddHttpError))
        except ConnectionError:  # the client is gone
            raise
        except Exception:
            log.exception("A request failed.")
            if request.writer.output_size:  # a second answer would be taken for a part of the first
                raise ConnectionAbortedError from None
            bug = GatewayError(500, "gateway_exception", "a bug of winnow gateway; its log has the details")
            return await send_answer(request, bug.answer())

    def _indices(self, request: web.BaseRequest) -> ClientIndices:
        if self._engine.credentials:
            return ClientIndices(self._attached, self._engine.send, b"")
        send = self._engine.send_for(request.raw_headers)
        return ClientIndices(self._attached, send, client_of(request.raw_headers))

    async def _find(self, request: web.BaseRequest, name: str) -> Found:
        return await self._indices(request).find(name)

    def _about(self) -> EngineAnswer:
        """Return the numbers, and nothing about the engine: any client that connects may read them."""
        return EngineAnswer(200, {"content-type": JSON}, msgspec.json.encode(self._activity.numbers()))
