"""The gateway's proxy: passes requests on to the engine, and gives documents of attached indices winnow's fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from logging import getLogger
from urllib.parse import parse_qsl

import aiohttp
import msgspec
from aiohttp import web
from multidict import CIMultiDict

from opensearch_winnow.gateway.attached import AttachedIndices, Found
from opensearch_winnow.gateway.cluster import Body, Cluster
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.errors import JSON, GatewayError
from opensearch_winnow.gateway.group_options import is_ours
from opensearch_winnow.gateway.grouped_msearch import grouped_msearch
from opensearch_winnow.gateway.grouped_search import grouped_search, refusal
from opensearch_winnow.gateway.headers import NOT_SENT, passed_headers, reader_of, warning
from opensearch_winnow.gateway.request_body import BodyStream, decompressed, read_body
from opensearch_winnow.gateway.routes import Other, Search, Write, route_of
from opensearch_winnow.gateway.search_request import may_be_ours
from opensearch_winnow.gateway.writes import Prepared, prepare

OWN_PATH = "/_winnow"  # no index can have this name
MAX_BODY_WITH_EXT = 1024 * 1024  # bytes of a search in which `ext.winnow` is looked for; larger ones pass as a stream
MAX_BODY = 100 * 1024 * 1024  # bytes, as engines have it by default (http.max_content_length)

log = getLogger("winnow.gateway")


class PassedResponse(web.StreamResponse):
    """An answer with the headers of the engine only."""

    async def _prepare_headers(self) -> None:
        theirs = {name for name in ("Date", "Server", "Content-Type") if name in self.headers}
        await super()._prepare_headers()
        for name in {"Date", "Server", "Content-Type"} - theirs:
            self.headers.pop(name, None)


class Proxy:
    """Handles the requests of clients. One for each gateway."""

    def __init__(self, cluster: Cluster, *, max_body: int = MAX_BODY) -> None:
        self._cluster = cluster
        self._attached = AttachedIndices()
        self._max_body = max_body
        self._counts: Counter[str] = Counter()
        self._logged: set[str] = set()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        try:
            if not request.raw_path.startswith("/"):  # it would become a part of the engine's address
                raise GatewayError(400, "illegal_argument_exception", "the path of a request starts with /")
            if request.headers.get("expect", "").lower() == "100-continue":
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                request.writer.output_size = 0  # the answer itself has not begun
            if request.raw_path.partition("?")[0] == OWN_PATH:
                return await _send_answer(request, self._about())
            self._counts["passed"] += 1
            match route_of(request.method, request.raw_path):
                case Write() as write:
                    return await self._write(request, write)
                case Search() as search:
                    return await self._search(request, search)
                case Other(changes_indices):
                    response = await self._pass_on(request, request.raw_path, _stream(request))
                    if changes_indices:
                        self._attached.forget()
                    return response
        except GatewayError as error:
            return await _send_answer(request, error.answer())
        except ConnectionError:  # the client is gone
            raise
        except Exception:
            log.exception("A request failed.")
            if request.writer.output_size:  # a second answer would be taken for a part of the first
                raise ConnectionAbortedError from None
            bug = GatewayError(500, "gateway_exception", "a bug of winnow gateway; its log has the details")
            return await _send_answer(request, bug.answer())

    # --- writes -------------------------------------------------------------------------------------------------------

    async def _write(self, request: web.BaseRequest, write: Write) -> web.StreamResponse:
        if write.kind != "bulk" and write.name is not None and await self._find(request, write.name) is None:
            return await self._pass_on(request, request.raw_path, _stream(request))
        sent, is_whole = await read_body(request.content, self._max_body)
        plain = await decompressed(request.headers, sent, self._max_body) if is_whole else None
        if plain is None:
            prepared = await self._without_fields(request, write)
        else:
            query = dict(parse_qsl(request.raw_path.partition("?")[2], keep_blank_values=True))
            prepared = await self._prepare(request, write, query, plain)
            if prepared.body is not None and len(prepared.body) > max(self._max_body, len(sent)):
                documents = prepared.with_fields + prepared.without_fields
                reason = "with fields, the request would be larger than engines accept (--max-body)"
                prepared = Prepared(request.raw_path, warnings=[_no_fields(write, reason)], without_fields=documents)
        body: Body = prepared.body
        headers = passed_headers(request.raw_headers, NOT_SENT)
        if prepared.body is not None:
            headers.popall("content-encoding", None)
            headers["content-length"] = str(len(prepared.body))
        else:
            body = sent if is_whole else BodyStream(sent, request.content)
        return await self._pass_on(request, prepared.path, body, headers, prepared)

    async def _prepare(self, request: web.BaseRequest, write: Write, query: Mapping[str, str], body: bytes) -> Prepared:
        send = self._cluster.send_for(request.raw_headers)
        try:
            return await prepare(write, request.raw_path, query, body, lambda name: self._find(request, name), send)
        except Exception as error:  # nothing that goes wrong here may keep a document from being written
            reason = str(error)
            if not isinstance(error, GatewayError):
                log.exception("A request passes without fields.")
                reason = "a bug of winnow gateway; its log has the details"
            return Prepared(request.raw_path, warnings=[_no_fields(write, reason)], unread=True)

    async def _without_fields(self, request: web.BaseRequest, write: Write) -> Prepared:
        """Return a request that is passed on unread, with a warning if it goes to an attached index."""
        found = None if write.name is None else await self._find(request, write.name)
        reason = "the gateway reads JSON and NDJSON only, plain or with gzip, and not above --max-body"
        warnings = [] if found is None else [_no_fields(write, reason)]
        return Prepared(request.raw_path, warnings=warnings, unread=True)

    async def _find(self, request: web.BaseRequest, name: str) -> Found:
        if self._cluster.credentials:
            return await self._attached.find(name, self._cluster.send)
        send = self._cluster.send_for(request.raw_headers)
        return await self._attached.find(name, send, reader_of(request.headers))

    # --- searches -----------------------------------------------------------------------------------------------------

    async def _search(self, request: web.BaseRequest, search: Search) -> web.StreamResponse:
        path, _, written = request.raw_path.partition("?")
        query = dict(parse_qsl(written, keep_blank_values=True))
        named = any(map(is_ours, query))
        sent, is_whole = await read_body(request.content, self._max_body if named else MAX_BODY_WITH_EXT)
        plain = await decompressed(request.headers, sent, self._max_body) if is_whole else None
        if not named and not may_be_ours(search.kind, plain or b""):
            body = sent if is_whole else BodyStream(sent, request.content)
            return await self._pass_on(request, request.raw_path, body if request.can_read_body or sent else None)
        if plain is None:
            return await _send_answer(request, refusal("a grouped search has a body of JSON, plain or with gzip"))
        answer = await (grouped_search if search.kind == "search" else grouped_msearch)(
            path,
            query,
            plain,
            lambda name: self._find(request, name),
            self._cluster.send_for(request.raw_headers),
        )
        return await _send_answer(request, answer)

    # --- everything ---------------------------------------------------------------------------------------------------

    async def _pass_on(
        self,
        request: web.BaseRequest,
        path: str,
        body: Body,
        headers: CIMultiDict[str] | None = None,
        prepared: Prepared | None = None,
    ) -> web.StreamResponse:
        """Send a request to the engine, and its answer to the client, piece by piece."""
        headers = passed_headers(request.raw_headers, NOT_SENT) if headers is None else headers
        answer = await self._cluster.open(request.method, path, headers, body)
        response = PassedResponse(status=answer.status, reason=answer.reason)
        response.headers.extend(passed_headers(answer.raw_headers))
        if prepared is not None and answer.status < 300:  # of a request that fails, its error is all there is to say
            self._count(prepared)
            for reason in prepared.warnings:
                response.headers.add("Warning", warning(reason))
        try:
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
            await response.write_eof()
        except aiohttp.ClientError:
            # The engine is gone in the middle of its answer: so is the connection to the client.
            if request.transport is not None:
                request.transport.abort()
        finally:
            answer.release()
        return response

    def _about(self) -> EngineAnswer:
        counts = {name: self._counts[name] for name in ("documents", "without_fields", "unread", "passed")}
        about = {"to": str(self._cluster.address), **counts, "attached": sorted(self._attached.names)}
        return EngineAnswer(200, {"content-type": JSON}, msgspec.json.encode(about))

    def _count(self, prepared: Prepared) -> None:
        self._counts["documents"] += prepared.with_fields
        self._counts["without_fields"] += prepared.without_fields
        self._counts["unread"] += prepared.unread
        for reason in (*prepared.warnings, *sorted(prepared.notes)):
            self._log_once(reason)

    def _log_once(self, reason: str) -> None:
        if reason not in self._logged and len(self._logged) < 1_000:
            self._logged.add(reason)
            log.warning("%s", reason)


def _no_fields(write: Write, reason: str) -> str:
    return f"no fields for documents{'' if write.name is None else f' of {write.name}'}: {reason}"


def _stream(request: web.BaseRequest) -> Body:
    return BodyStream(b"", request.content) if request.can_read_body else None


async def _send_answer(request: web.BaseRequest, answer: EngineAnswer) -> web.StreamResponse:
    """Send a whole answer to the client."""
    response = PassedResponse(status=answer.status)
    response.headers.extend(answer.headers)
    response.headers["content-length"] = str(len(answer.body))
    await response.prepare(request)
    if request.method != "HEAD":
        await response.write(answer.body)
    await response.write_eof()
    return response
