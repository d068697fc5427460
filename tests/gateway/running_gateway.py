"""Runs a gateway inside the tests, in a thread of its own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import msgspec

from opensearch_winnow.foundation.listening import ListenOptions
from opensearch_winnow.gateway.limits import MAX_BODY, Limits
from opensearch_winnow.gateway.serving.server import running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway import raw_requests
from tests.gateway.raw_requests import Answer


def ask(url: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Send one request. A body that is no bytes is sent as JSON, and underscores in names of headers become hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None and not isinstance(body, bytes):
        body = msgspec.json.encode(body)
    if body is not None:
        sent.setdefault("content-type", "application/json")
    return raw_requests.ask(url, method, path, body, sent)


def bulk_lines(*lines: Any) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


@contextmanager
def running_gateway(
    to: str, *, tls: ssl.SSLContext | None = None, max_body: int = MAX_BODY, limits: Limits | None = None
) -> Iterator[str]:
    """Run a gateway to an engine, and yield its address."""
    limits = limits or Limits(max_body=max_body)
    started, stop = Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        try:
            async with running(Address.of_engine(to), listener, tls=tls, limits=limits):
                started.set()
                await stop.wait()
        finally:
            started.set()

    with ListenOptions().listener() as listener:
        thread = Thread(target=loop.run_until_complete, args=[run()])
        thread.start()
        try:
            assert started.wait(30)
            yield f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()
