"""Sends answers to clients: the engine's piece by piece, and the gateway's as a whole."""

from __future__ import annotations

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.engine_connection import Body, EngineConnection
from opensearch_winnow.gateway.headers import NOT_SENT, passed_headers
from opensearch_winnow.gateway.memory_budget import Reservation
from opensearch_winnow.gateway.request_body import BodyStream


class PassedResponse(web.StreamResponse):
    """An answer with the headers of the engine only."""

    async def _prepare_headers(self) -> None:
        theirs = {name for name in ("Date", "Server", "Content-Type") if name in self.headers}
        await super()._prepare_headers()
        for name in {"Date", "Server", "Content-Type"} - theirs:
            self.headers.pop(name, None)


async def pass_on(
    request: web.BaseRequest, engine: EngineConnection, body: Body, memory: Reservation | None = None
) -> web.StreamResponse:
    """Send a request to the engine as it came, with this body, and its answer to the client.

    The body's `memory` is given back before the client reads the answer.
    """
    headers = passed_headers(request.raw_headers, NOT_SENT)
    answer = await engine.open(request.method, request.raw_path, headers, body)
    if memory is not None:
        memory.shrink()
    return await send_on(request, answer)


async def send_on(
    request: web.BaseRequest, answer: aiohttp.ClientResponse, headers: CIMultiDict[str] | None = None
) -> web.StreamResponse:
    """Send an answer of the engine to the client, piece by piece, with further headers."""
    # A reason is for people only, and aiohttp would change one that is not UTF-8.
    reason = answer.reason if answer.reason is not None and answer.reason.isprintable() else None
    response = PassedResponse(status=answer.status, reason=reason)
    response.headers.extend(passed_headers(answer.raw_headers))
    response.headers.extend(headers or {})
    try:
        await response.prepare(request)
        async for piece in answer.content.iter_any():
            await response.write(piece)
        await response.write_eof()
    except aiohttp.ClientError:
        # The engine broke off its answer, so the client's connection is broken off, too.
        if request.transport is not None:
            request.transport.abort()
    finally:
        answer.release()
    return response


async def send_answer(request: web.BaseRequest, answer: EngineAnswer, *, is_last: bool = False) -> web.StreamResponse:
    """Send a whole answer to the client. After the last one, the connection is closed."""
    response = PassedResponse(status=answer.status)
    if is_last:
        response.force_close()
    response.headers.extend(answer.headers)
    response.headers["content-length"] = str(len(answer.body))
    await response.prepare(request)
    if request.method != "HEAD":
        await response.write(answer.body)
    await response.write_eof()
    return response


def streamed_body(request: web.BaseRequest) -> Body:
    """Return the body of a request; None if it has none."""
    return BodyStream(request.content) if request.can_read_body else None
