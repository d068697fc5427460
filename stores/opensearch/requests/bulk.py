"""Writes many documents with several bulk requests in flight, and retries operations that the engine refused.

    for written in bulk(client, operations): …

The client's own retries are not used: bulk_loop.py decides what is sent again, and when.
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
from opensearchpy.exceptions import ConnectionError as NoConnection, ConnectionTimeout, SSLError, TransportError

from opensearch_winnow.stores.opensearch.requests.bulk_errors import retry_after_seconds
from opensearch_winnow.stores.opensearch.requests.bulk_loop import BulkLoop, BulkResponse, Lost, Request
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation
from opensearch_winnow.stores.opensearch.requests.errors import UNAVAILABLE, causes
from opensearch_winnow.stores.store import WriteOutcome

THREAD_NAME = "bulk request"
STOP_SECONDS = 1.0  # for requests in flight to finish when the caller stops early
HEADERS = {"content-type": "application/x-ndjson"}
EVERY_STATUS = range(100, 600)


def bulk(
    client: OpenSearch,
    operations: Iterable[Operation],
    *,
    name: str = "the store",
    limits: BulkLimits = BulkLimits(),
    pipeline: str = "_none",
    require_alias: bool = True,
    random: Callable[[], float] = random_numbers.random,
) -> Iterator[WriteOutcome]:
    """Yield the outcome of each operation, in order. Operations are read lazily, as requests have room for them.

    The outcome of an update or a deletion is `replaced`, or `failed` if the document did not exist. Refused operations
    are sent again unless the refusal is permanent. After `limits.give_up_after` seconds without progress, a StoreError
    about the store `name` says how many documents are written. With `require_alias`, an index that was deleted in the
    meantime is not created again without its mapping.
    """
    loop = BulkLoop(limits, random)
    feed = iter(operations)
    answers: SimpleQueue[tuple[Request, BulkResponse | Lost | Exception]] = SimpleQueue()

    def send(request: Request) -> None:
        try:
            answers.put((request, _send(client, request, parameters(request, limits, pipeline, require_alias), limits)))
        except Exception as error:
            answers.put((request, error))

    try:
        while not loop.finished:
            yield from loop.outcomes()
            while request := loop.take(time.monotonic()):
                # A daemon, so that the interpreter does not wait for it at exit.
                Thread(target=send, name=THREAD_NAME, args=(request,), daemon=True).start()
            if loop.wants_more and answers.empty():
                operation = next(feed, None)
                loop.end() if operation is None else loop.add(operation)
                continue
            with suppress(Empty):
                request, answer = answers.get(timeout=loop.wait(time.monotonic()))
                if isinstance(answer, Exception):
                    raise answer
                loop.handle(request, answer, time.monotonic())
        yield from loop.outcomes()
        if loop.broken:
            raise loop.error(name)
    finally:
        end = time.monotonic() + STOP_SECONDS
        with suppress(Empty):
            for _ in range(loop.in_flight):
                answers.get(timeout=max(0.0, end - time.monotonic()))


def parameters(request: Request, limits: BulkLimits, pipeline: str, require_alias: bool) -> dict[str, str]:
    """Return the URL parameters. The engine's own timeout is half of ours, so that it reports a missing shard first."""
    return {
        "filter_path": request.filter_path,
        "pipeline": pipeline,
        "require_alias": str(require_alias).lower(),
        "timeout": f"{max(1, int(limits.request_timeout * 500))}ms",
    }


def lost(error: NoConnection) -> Lost:
    """Describe a request without an answer. If the connection was refused, the engine cannot have executed it."""
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes(error)):
        return Lost("the connection is refused", maybe_done=False)
    return Lost("no answer in time" if isinstance(error, ConnectionTimeout) else "the connection breaks")


def _send(client: OpenSearch, request: Request, parameters: dict[str, str], limits: BulkLimits) -> BulkResponse | Lost:
    """Send a request by a connection of the client's pool: unlike the client, it returns the status and headers."""
    transport: Any = client.transport
    connection = transport.get_connection()
    try:
        status, headers, body = connection.perform_request(
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
        with suppress(TransportError):  # it may search for other nodes and find none
            transport.mark_dead(connection)
        return lost(error)
    if status in UNAVAILABLE:
        with suppress(TransportError):
            transport.mark_dead(connection)
    else:
        transport.connection_pool.mark_live(connection)
    return answer(status, headers, body)


def answer(status: int, headers: Any, body: str) -> BulkResponse:
    retry_after = {name.lower(): value for name, value in headers.items()}.get("retry-after")
    return BulkResponse(status, body, retry_after_seconds(retry_after, time.time()))
