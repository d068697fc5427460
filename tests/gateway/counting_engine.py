"""An engine without indices, which counts what arrives, behind a gateway with limits of a test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opensearch_winnow.gateway.limits import Limits
from tests.gateway.faulty_engine import faulty_engine, read_request
from tests.gateway.raw_requests import ask
from tests.gateway.running_gateway import running_gateway

NOT_FOUND = b'{"error": {"type": "index_not_found_exception"}, "status": 404}'


class CountingEngine:
    """An engine that has no indices, says that all writes were executed, and counts what arrives."""

    def __init__(self) -> None:
        self.connections = self.most_connections = 0
        self.arrived: list[tuple[str, bytes]] = []  # paths and bodies
        self.delay = 0.0  # seconds before each answer
        self.padding = 0  # bytes in each answer to a look-up

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.most_connections = max(self.most_connections, self.connections)
        try:
            while True:
                head, body = await read_request(reader)
                method, path = head.split()[:2]
                if path != b"/":  # by which the gateway finds out whether the engine accepts the client
                    self.arrived.append((path.decode(), body))
                await asyncio.sleep(self.delay)
                is_write = b"_bulk" in path or b"_doc" in path
                body = _written(path, body) if is_write else NOT_FOUND
                body += b" " * (self.padding if method == b"GET" and path != b"/" else 0)
                status = b"200 OK" if is_write else b"404 Not Found"
                writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\n" % status)
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
        finally:
            self.connections -= 1


def _written(path: bytes, body: bytes) -> bytes:
    documents = body.count(b"\n") // 2 if b"_bulk" in path else 0
    item = b'{"index": {"_index": "a", "_id": "1", "status": 201}}'
    return b'{"errors": false, "items": [%s]}' % b", ".join([item] * documents)


@contextmanager
def limited(engine: CountingEngine, **limits: Any) -> Iterator[str]:
    with faulty_engine(engine.answer) as url, running_gateway(url, limits=Limits(**limits)) as gateway:
        yield gateway


def numbers(gateway: str) -> dict[str, int]:
    """Return what the gateway says about itself."""
    found: dict[str, int] = ask(gateway, "GET", "/_winnow").json()
    return found
