"""Sends a bulk request as the gateway does, without its HTTP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from opensearch_winnow.gateway.attached import AttachedIndices, Found
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.routes import Write
from opensearch_winnow.gateway.writing.bulk_body import BulkItem
from opensearch_winnow.gateway.writing.sent_writes import Answered, Line, send_bulk
from opensearch_winnow.gateway.writing.writes import Prepared, Rejected, prepare, prepare_bulk

Send = Callable[[str, str, Any], Awaitable[EngineAnswer]]


async def sent_bulk(
    send: Send, name: str, body: bytes, *, pipeline: str = "", meanwhile: Callable[[], object] = lambda: None
) -> Answered | None:
    """Send a body to an index; None if it is not attached. `meanwhile` is called before the engine gets it."""
    indices = AttachedIndices()
    query = {"pipeline": pipeline} if pipeline else {}
    path = f"/{name}/_bulk" + (f"?pipeline={pipeline}" if pipeline else "")

    async def find(index: str) -> Found:
        return await indices.find_to_write(index, send)

    async def send_body(address: str, content: bytes | None) -> EngineAnswer:
        return await send("POST", address, body if content is None else content)

    async def prepare_again(items: Sequence[BulkItem], rejected: Mapping[int, Rejected]) -> Prepared:
        return await prepare_bulk(items, name, path, query, find, send, rejected)

    prepared = await prepare(Write("bulk", name), path, query, body, find, send)
    meanwhile()
    if prepared.attached:
        line = Line(send_body, lambda: send_body(path, body), len(body), find, indices.forget)
        return await send_bulk(prepared, prepare_again, line)
    await send_body(prepared.path, prepared.body)
    return None
