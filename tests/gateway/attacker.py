"""A stranger who sends requests to a gateway, and what one of them does again and again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

USELESS = "Authorization: Basic c3RyYW5nZXI6c3RyYW5nZXI=\r\n"
ANSWER_SECONDS = 120.0
MAX_SHOWN = 40  # bytes of an odd first line


class Attacker:
    """Sends requests, and counts how they are answered."""

    def __init__(self, url: str, index: str, scale: float) -> None:
        address = urlsplit(url)
        self.host, self.port = address.hostname or "", address.port or 0
        self.index = index
        self.scale = scale
        self.answers: Counter[str] = Counter()

    def size(self, full: int) -> int:
        return max(1, int(full * self.scale))

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.host, self.port)

    async def send(self, raw: bytes) -> bytes:
        """Send bytes on a connection of its own, read all that comes back, and return its beginning."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await self.open()
                try:
                    writer.write(raw)
                    await writer.drain()
                    beginning = await reader.read(1 << 16)
                    while await reader.read(1 << 20):
                        pass
                finally:
                    writer.close()
        except (OSError, TimeoutError) as error:
            self.answers[type(error).__name__] += 1
            return b""
        line = beginning.partition(b"\r\n")[0].decode("latin-1")
        self.answers[line[9:12] if line.startswith("HTTP/1.1 ") else line[:MAX_SHOWN] or "closed"] += 1
        return beginning

    async def ask(self, method: str, path: str, body: bytes = b"", *, headers: str = "") -> bytes:
        kind = "application/x-ndjson" if body.endswith(b"\n") else "application/json"
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{USELESS}Content-Type: {kind}\r\n"
        coding = "Content-Encoding: gzip\r\n" if body[:2] == b"\x1f\x8b" else ""
        return await self.send(f"{head}{coding}{headers}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body)


Round = Callable[[Attacker], Awaitable[object]]
Begin = Callable[[Attacker], Round]  # makes what is sent, and returns what sends it once


class Attack(NamedTuple):
    """A way to attack: what one of several strangers does again and again."""

    name: str
    begin: Begin
    strangers: int = 1
    recorded: bool = False  # in front of an engine that counts, instead of the real one
    prefix: bool = False  # the gateway's engine is below a path
    max_files: int | None = None  # descriptors of the gateway


async def briefly(work: Awaitable[object]) -> None:
    """Wait a few seconds for an answer: there may be none."""
    with suppress(TimeoutError):
        async with asyncio.timeout(5):
            await work


async def all_of(*works: Awaitable[object]) -> None:
    await asyncio.gather(*works)
