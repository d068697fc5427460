"""Writes many documents: several requests in flight, each document's outcome, and again what was not taken.

    for written in bulk(client, operations): …

The client's own retries are not used: what is sent again, and when, is decided in bulk_loop.py.
"""

from __future__ import annotations

import random as random_numbers
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, SSLError, TransportError

from opensearch_winnow.stores.opensearch.bulk_faults import seconds
from opensearch_winnow.stores.opensearch.bulk_loop import Answer, BulkLoop, Lost, Request
from opensearch_winnow.stores.opensearch.bulk_operation import Limits, Operation
from opensearch_winnow.stores.opensearch.errors import causes
from opensearch_winnow.stores.store import Written

REQUEST = "bulk request"  # a thread's name
MOMENT = 1.0  # seconds that requests in flight get when somebody stops the whole
SICK = (502, 503, 504)  # answers after which another node is tried first
HEADERS = {"content-type": "application/x-ndjson"}
ALL_ANSWERS = range(100, 600)


def bulk(
    client: OpenSearch,
    operations: Iterable[Operation],
    *,
    name: str = "the store",
    limits: Limits = Limits(),
    pipeline: str = "_none",
    require_alias: bool = True,
    random: Callable[[], float] = random_numbers.random,
) -> Iterator[Written]:
    """The outcome of each operation, in their order. They are read as far as there is room, and no further.

    An update or a deletion has `replaced` what was there, or `failed` where nothing was. What is not refused for good
    is sent again, until there has been no progress for `limits.patience`: then comes a StoreError, about a store of
    this name, that says how much is written. With `require_alias` an index that somebody has deleted is not made anew,
    without its mapping.
    """
    loop = BulkLoop(limits, random)
    feed = iter(operations)
    heard: SimpleQueue[tuple[Request, Answer | Lost | Exception]] = SimpleQueue()

    def send(request: Request) -> None:
        try:
            heard.put((request, _sent(client, request, parameters(request, limits, pipeline, require_alias), limits)))
        except Exception as error:
            heard.put((request, error))

    try:
        while not loop.finished:
            yield from loop.outcomes()
            while request := loop.take(time.monotonic()):
                # A daemon, for which nobody waits at the end of the program.
                Thread(target=send, name=REQUEST, args=(request,), daemon=True).start()
            if loop.hungry and heard.empty():
                operation = next(feed, None)
                loop.end() if operation is None else loop.add(operation)
                continue
            with suppress(Empty):
                request, answer = heard.get(timeout=loop.wait(time.monotonic()))
                if isinstance(answer, Exception):
                    raise answer
                loop.hear(request, answer, time.monotonic())
        yield from loop.outcomes()
        if loop.broken:
            raise loop.error(name)
    finally:
        end = time.monotonic() + MOMENT
        with suppress(Empty):
            for _ in range(loop.flying):
                heard.get(timeout=max(0.0, end - time.monotonic()))


def parameters(request: Request, limits: Limits, pipeline: str, require_alias: bool) -> dict[str, str]:
    """Of the request's URL. The engine shall have given up on a missing shard before we give up on the engine."""
    return {
        "filter_path": request.filter_path,
        "pipeline": pipeline,
        "require_alias": str(require_alias).lower(),
        "timeout": f"{max(1, int(limits.answer * 500))}ms",
    }


def lost(error: NoConnection) -> Lost:
    """A connection that was refused has carried nothing."""
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes(error)):
        return Lost("the connection is refused", unsure=False)
    return Lost("no answer in time" if isinstance(error, ConnectionTimeout) else "the connection breaks")


def _sent(client: OpenSearch, request: Request, parameters: dict[str, str], limits: Limits) -> Answer | Lost:
    """By one connection of the client's pool, which tells more than the client: the status, and the headers."""
    transport: Any = client.transport
    connection = transport.get_connection()
    try:
        status, headers, body = connection.perform_request(
            "POST", "/_bulk", parameters, request.body, timeout=limits.answer, ignore=ALL_ANSWERS, headers=dict(HEADERS)
        )
    except SSLError:
        raise
    except NoConnection as error:
        with suppress(TransportError):  # it may look for other nodes, and find none
            transport.mark_dead(connection)
        return lost(error)
    if status in SICK:
        with suppress(TransportError):
            transport.mark_dead(connection)
    else:
        transport.connection_pool.mark_live(connection)
    return answer(status, headers, body)


def answer(status: int, headers: Any, body: str) -> Answer:
    asked = {name.lower(): value for name, value in headers.items()}.get("retry-after")
    return Answer(status, body, seconds(asked, time.time()))
