"""A process in place of an engine that counts connections, and remembers which documents were written, and where.

    python -m tests.gateway.recording_engine PORT INDEX FILE

INDEX is attached: FILE has what a real engine answers about it. `GET /_recorded` returns the counts.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from opensearch_winnow.stores.engine.ports import free_port
from tests.gateway.raw_requests import ask

INFO = {"name": "n", "cluster_name": "c", "version": {"distribution": "opensearch", "number": "3.8.0"}, "tagline": ""}
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
NO_HITS: dict[str, Any] = {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}
FOUND = {"took": 1, "timed_out": False, "_shards": SHARDS, "hits": NO_HITS}
MISSING = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}
KEPT_BYTES = 1 << 20  # of a body; longer ones are not read
BIG_BYTES = 50_000_000  # of the answer to GET /_big
START_SECONDS = 30.0
PREFIX = "/es"  # below which it also answers, as behind another proxy


class RecordingEngine:
    """Answers as an engine does whose only index is attached."""

    def __init__(self, index: str, about: Any) -> None:
        self._index = index
        self._about = about
        self._open = 0
        self._most = 0
        self._requests = 0
        self._outside: Counter[str] = Counter()  # requests that have left the prefix, or are no requests
        self._documents: Counter[str] = Counter()  # how often each was written, by its headline

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        self._most = max(self._most, self._open)
        try:
            while await self._answer_one(reader, writer):
                pass
        except (OSError, EOFError, asyncio.LimitOverrunError, ValueError, RecursionError, zlib.error):
            pass
        finally:
            self._open -= 1
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.partition("\r\n")[0].split(" ")
        headers = dict(re.findall(r"^([^:\r\n]+): *([^\r\n]*)", head.lower().partition("\r\n")[2], re.MULTILINE))
        body = await _body(reader, headers)
        if headers.get("content-encoding") == "gzip" and len(body) < KEPT_BYTES:
            body = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, KEPT_BYTES)
        path = unquote(target.partition("?")[0])
        if path == "/_recorded":
            own = {"connections": self._most - 1, "open": self._open - 1, "requests": self._requests}
            return await _send(writer, 200, own | {"documents": self._documents, "outside": self._outside})
        self._requests += 1
        if ".." in path.split("/") or method == "CONNECT" or headers.get("transfer-encoding", "chunked") != "chunked":
            self._outside[f"{method} {target}"[:80]] += 1
        if path.endswith("/_big"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % BIG_BYTES)
            for _ in range(BIG_BYTES // 50_000):
                writer.write(bytes(50_000))
                await writer.drain()
            return True
        return await _send(writer, *self._answer(method, path.removeprefix(PREFIX) or "/", body))

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        parts = [part for part in path.split("/") if part]
        for headline in re.findall(rb'"headline": ?"([^"]*)"', body):
            self._documents[headline.decode()] += 1
        match method, parts:
            case "GET", []:
                return 200, INFO
            case "GET", [name] if name == self._index:
                return 200, self._about
            case "GET", [_]:
                return 404, MISSING
            case "POST", ["_mget"]:
                docs = json.loads(body)["docs"]
                return 200, {"docs": [{"_index": each["_index"], "_id": each["_id"], "found": False} for each in docs]}
            case _, [*_, "_bulk"]:
                return 200, {"took": 1, "errors": False, "items": self._items(parts[:-1], body)}
            case "PUT" | "POST", [name, "_doc", *_]:
                return 201, self._written(name, parts[-1])
            case _, [*_, "_search"]:
                return 200, FOUND
            case _, [*_, "_msearch"]:
                searches = len(body.split(b"\n")) // 2
                return 200, {"took": 1, "responses": [FOUND | {"status": 200}] * searches}
        return 200, {"acknowledged": True}

    def _items(self, names: list[str], body: bytes) -> list[Any]:
        if len(body) >= KEPT_BYTES:
            return []
        lines = body.split(b"\n")
        actions = [json.loads(line) for line in lines[::2] if line]
        return [
            {kind: self._written(options.get("_index", (*names, "")[0]), options.get("_id", "")) | {"status": 201}}
            for action in actions
            for kind, options in action.items()
        ]

    def _written(self, name: str, id_: str) -> dict[str, Any]:
        own = {"_index": name, "_id": id_, "_version": 1, "_seq_no": 1, "_primary_term": 1}
        return own | {"result": "created", "_shards": SHARDS}


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    """Read a body, and return its first megabyte."""
    kept = b""
    if "transfer-encoding" in headers:
        while size := int((await reader.readline()).split(b";")[0], 16):
            piece = (await reader.readexactly(size + 2))[:-2]
            kept += piece[: KEPT_BYTES - len(kept)]
        await reader.readline()
        return kept
    left = int(headers.get("content-length", 0))
    while left:
        piece = await reader.read(min(left, 1 << 18))
        if not piece:
            raise asyncio.IncompleteReadError(kept, left)
        left -= len(piece)
        kept += piece[: KEPT_BYTES - len(kept)]
    return kept


async def _send(writer: asyncio.StreamWriter, status: int, answer: Any) -> bool:
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True


@contextmanager
def recording_engine(index: str, about: bytes, folder: Path) -> Iterator[str]:
    """Run such an engine in a process of its own, and yield its address."""
    file, port = folder / "about.json", free_port()
    file.write_bytes(about)
    command = [sys.executable, "-m", "tests.gateway.recording_engine", str(port), index, str(file)]
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            while True:
                try:
                    ask(url, "GET", "/_recorded")
                    break
                except OSError:
                    assert process.poll() is None
                    assert time.monotonic() < until
                    time.sleep(0.05)
            yield url
        finally:
            process.kill()


async def main() -> None:
    port, index, file = sys.argv[1:]
    engine = RecordingEngine(index, json.loads(Path(file).read_bytes()))
    server = await asyncio.start_server(engine.serve, "127.0.0.1", int(port), backlog=4_096, limit=1 << 20)
    async with server:
        await asyncio.to_thread(sys.stdin.read)  # until the process that has started this one is gone


if __name__ == "__main__":
    asyncio.run(main())
