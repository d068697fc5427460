"""Runs a server in place of an engine, which answers as a test wants it to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Thread


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the head of a request, and its body."""
    head, body = await reader.readuntil(b"\r\n\r\n"), b""
    if length := re.search(rb"content-length: *(\d+)", head, re.IGNORECASE):
        return head, await reader.readexactly(int(length[1]))
    while b"transfer-encoding: chunked" in head.lower():
        size = int(await reader.readline(), 16)
        body += (await reader.readexactly(size + 2))[:-2]
        if not size:
            break
    return head, body


@contextmanager
def answering_engine(answer: Callable[[bytes, bytes], bytes]) -> Iterator[str]:
    """Run a server that answers each request by its head and its body, and yield its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(answer(*await read_request(reader)))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    with faulty_engine(handle) as url:
        yield url


@contextmanager
def faulty_engine(handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> Iterator[str]:
    """Run a server that answers each connection as `handle` does, and yield its address."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(handle, "127.0.0.1", 0))
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
