"""As bulk.py, for who has an AsyncOpenSearch.

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

from opensearch_winnow.stores.opensearch.bulk import ALL_ANSWERS, HEADERS, MOMENT, SICK, answer, lost, parameters
from opensearch_winnow.stores.opensearch.bulk_loop import Answer, BulkLoop, Lost, Request
from opensearch_winnow.stores.opensearch.bulk_operation import Limits, Operation
from opensearch_winnow.stores.store import Written

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch  # which cannot be imported without aiohttp


async def bulk_async(
    client: AsyncOpenSearch,
    operations: AsyncIterable[Operation],
    *,
    name: str = "the store",
    limits: Limits = Limits(),
    pipeline: str = "_none",
    require_alias: bool = True,
    random: Callable[[], float] = random_numbers.random,
) -> AsyncIterator[Written]:
    """The outcome of each operation, in their order; all else as in `bulk`."""
    loop = BulkLoop(limits, random)
    feed = aiter(operations)
    flying: dict[asyncio.Task[Answer | Lost], Request] = {}
    await client.ping()  # an asynchronous client connects with its first request, and this one may fail
    try:
        while not loop.finished:
            for written in loop.outcomes():
                yield written
            while request := loop.take(time.monotonic()):
                words = parameters(request, limits, pipeline, require_alias)
                flying[asyncio.create_task(_sent(client, request, words, limits))] = request
            if loop.hungry and not any(task.done() for task in flying):
                operation = await anext(feed, None)
                loop.end() if operation is None else loop.add(operation)
                continue
            pause = loop.wait(time.monotonic())
            if not flying:
                await asyncio.sleep(pause or 0.0)
                continue
            done, _ = await asyncio.wait(flying, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                loop.hear(flying.pop(task), task.result(), time.monotonic())
        for written in loop.outcomes():
            yield written
        if loop.broken:
            raise loop.error(name)
    finally:
        if flying:
            await asyncio.wait(flying, timeout=MOMENT)
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)


async def _sent(client: AsyncOpenSearch, request: Request, parameters: dict[str, str], limits: Limits) -> Answer | Lost:
    transport: Any = client.transport
    connection = transport.get_connection()
    try:
        status, headers, body = await connection.perform_request(
            "POST", "/_bulk", parameters, request.body, timeout=limits.answer, ignore=ALL_ANSWERS, headers=dict(HEADERS)
        )
    except SSLError:
        raise
    except NoConnection as error:
        with suppress(TransportError):
            transport.mark_dead(connection)
        return lost(error)
    if status in SICK:
        transport.mark_dead(connection)
    else:
        transport.connection_pool.mark_live(connection)
    return answer(status, headers, body)
