"""Writes many documents with an asynchronous client; see bulk.py.

async for written in bulk_async(client, operations): …
"""

from __future__ import annotations

import asyncio
import random as random_numbers
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import SSLError, TransportError

from opensearch_winnow.stores.opensearch.requests.bulk import (
    EVERY_STATUS,
    HEADERS,
    STOP_SECONDS,
    answer,
    lost,
    parameters,
)
from opensearch_winnow.stores.opensearch.requests.bulk_loop import BulkLoop, BulkResponse, Lost, Request
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation
from opensearch_winnow.stores.opensearch.requests.errors import UNAVAILABLE
from opensearch_winnow.stores.store import WriteOutcome

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch  # importing it needs aiohttp


async def bulk_async(
    client: AsyncOpenSearch,
    operations: AsyncIterable[Operation],
    *,
    name: str = "the store",
    limits: BulkLimits = BulkLimits(),
    pipeline: str = "_none",
    require_alias: bool = True,
    random: Callable[[], float] = random_numbers.random,
) -> AsyncIterator[WriteOutcome]:
    """Yield the outcome of each operation, in order. See `bulk`."""
    loop = BulkLoop(limits, random)
    feed = aiter(operations)
    in_flight: dict[asyncio.Task[BulkResponse | Lost], Request] = {}
    await client.ping()  # an asynchronous client connects with its first request; this one is allowed to fail
    try:
        while not loop.finished:
            for written in loop.outcomes():
                yield written
            while request := loop.take(time.monotonic()):
                task = asyncio.create_task(
                    _send(client, request, parameters(request, limits, pipeline, require_alias), limits)
                )
                in_flight[task] = request
            if loop.wants_more and not any(task.done() for task in in_flight):
                operation = await anext(feed, None)
                loop.end() if operation is None else loop.add(operation)
                continue
            pause = loop.wait(time.monotonic())
            if not in_flight:
                await asyncio.sleep(pause or 0.0)
                continue
            done, _ = await asyncio.wait(in_flight, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                loop.handle(in_flight.pop(task), task.result(), time.monotonic())
        for written in loop.outcomes():
            yield written
        if loop.broken:
            raise loop.error(name)
    finally:
        if in_flight:
            await asyncio.wait(in_flight, timeout=STOP_SECONDS)
            for task in in_flight:
                task.cancel()
            await asyncio.gather(*in_flight, return_exceptions=True)


async def _send(
    client: AsyncOpenSearch, request: Request, parameters: dict[str, str], limits: BulkLimits
) -> BulkResponse | Lost:
    transport: Any = client.transport
    connection = transport.get_connection()
    try:
        status, headers, body = await connection.perform_request(
            "POST",
            "/_bulk",
            parameters,
            request.body,
            timeout=limits.request_timeout,
            ignore=EVERY_STATUS,
            headers=dict(HEADERS),
        )
    except SSLError:
        raise
    except NoConnection as error:
        with suppress(TransportError):
            transport.mark_dead(connection)
        return lost(error)
    if status in UNAVAILABLE:
        transport.mark_dead(connection)
    else:
        transport.connection_pool.mark_live(connection)
    return answer(status, headers, body)
