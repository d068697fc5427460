"""Reads the bodies of requests: whole if they are small enough, and as streams otherwise."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping

from aiohttp import StreamReader

GZIP = 16 + zlib.MAX_WBITS  # zlib's way to ask for the header of gzip
CHUNK_BYTES = 4_096  # that are decompressed at a time
JSON_TYPES = ("json", "x-ndjson")  # the ends of content types, as in application/vnd.elasticsearch+json


class BodyStream:
    """A body of which the beginning was read already."""

    def __init__(self, beginning: bytes, rest: StreamReader) -> None:
        self._beginning = beginning
        self._rest = rest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._beginning:
            yield self._beginning
        async for piece in self._rest.iter_any():
            yield piece


async def read_body(content: StreamReader, max_bytes: int) -> tuple[bytes, bool]:
    """Read a body up to a size, and return what was read and whether that is all."""
    pieces, size = [], 0
    async for piece in content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            return b"".join(pieces), False
    return b"".join(pieces), True


async def decompressed(headers: Mapping[str, str], body: bytes, max_bytes: int) -> bytes | None:
    """Return a body as JSON or NDJSON; None if it has another form or encoding, is broken or too large."""
    kind = headers.get("content-type", "json").partition(";")[0].strip().lower()
    if not kind.endswith(JSON_TYPES):
        return None
    match headers.get("content-encoding", "").strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            return await asyncio.to_thread(_unzipped, body, max_bytes)  # other requests must not wait for it
    return None


def _unzipped(body: bytes, max_bytes: int) -> bytes | None:
    pieces, position = [], 0
    try:
        while position < len(body):  # a file of gzip may have several parts
            unzip = zlib.decompressobj(GZIP)
            while not unzip.eof:
                # Small chunks, because zlib copies what is left of one for each part: a body may have 100,000 parts.
                if not (chunk := body[position : position + CHUNK_BYTES]):
                    return None
                pieces.append(unzip.decompress(chunk, max_bytes))
                position += len(chunk) - len(unzip.unused_data)
                max_bytes -= len(pieces[-1])
                if max_bytes <= 0:
                    return None
    except zlib.error:
        return None
    return b"".join(pieces)
