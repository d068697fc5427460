"""Reads the bodies of requests: whole if they are small enough, and as streams otherwise."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping

from aiohttp import StreamReader

from opensearch_winnow.gateway.limits import MAX_GZIP_PARTS, Limits
from opensearch_winnow.gateway.memory_budget import Reservation
from opensearch_winnow.gateway.threads import for_documents, for_searches

GZIP = 16 + zlib.MAX_WBITS  # zlib's way to ask for the header of gzip
CHUNK_BYTES = 4_096  # that are decompressed at a time
JSON_TYPES = ("json", "x-ndjson")  # the ends of content types, as in application/vnd.elasticsearch+json
TOO_LARGE = "the request is larger than --max-body"
NO_MEMORY = "other requests have taken the memory that it needs (--max-memory)"


class UnreadError(Exception):
    """A body that the gateway does not read, with the reason."""


class BodyStream:
    """A body, some pieces of which have been read. The memory of each piece is given back when it is sent on."""

    def __init__(
        self, rest: StreamReader, pieces: Iterable[bytes] = (), memory: Reservation | None = None, reason: str = ""
    ) -> None:
        self.reason = reason  # why it was not read to its end
        self._rest = rest
        self._pieces = deque(pieces)
        self._left = sum(map(len, self._pieces))
        self._memory = memory

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._pieces:
            piece = self._pieces.popleft()
            self._left -= len(piece)
            yield piece
            if self._memory is not None:
                self._memory.shrink(self._left)
        async for piece in self._rest.iter_any():
            yield piece


async def read_body(content: StreamReader, max_bytes: int, memory: Reservation) -> bytes | BodyStream:
    """Read a body and return it; or return a stream of it, if it is too large or no memory is left for it."""
    pieces, size = [], 0
    async for piece in content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            return BodyStream(content, pieces, memory, TOO_LARGE)
        if not memory.grow(2 * len(piece)):  # the piece, and its part of the whole
            return BodyStream(content, pieces, memory, NO_MEMORY)
    whole = b"".join(pieces)
    memory.shrink(size)
    return whole


async def decompressed(
    headers: Mapping[str, str],
    body: bytes,
    max_bytes: int,
    limits: Limits,
    memory: Reservation,
    *,
    is_search: bool = False,
) -> bytes:
    """Return a body as JSON or NDJSON.

    Raises UnreadError if it has another form or encoding, is damaged, too large or a bomb.
    """
    kind = headers.get("content-type", "json").partition(";")[0].strip().lower()
    if not kind.endswith(JSON_TYPES):
        raise UnreadError("the gateway reads JSON and NDJSON only")
    match headers.get("content-encoding", "").strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            # Gzip of this size may become that large; small bodies are exempt.
            most = max(limits.min_bytes_for_ratio, len(body) * limits.max_gzip_ratio)
            too_large = (
                f"unpacked, it has more than {limits.max_gzip_ratio} times its size" if most < max_bytes else TOO_LARGE
            )
            # In a thread: other requests must not wait for it.
            most = min(most, max_bytes)
            if is_search:
                return await for_searches(unzipped, body, most, memory, too_large)
            return await for_documents(most, unzipped, body, most, memory, too_large)
    raise UnreadError("the gateway unpacks gzip only")


def unzipped(body: bytes, max_bytes: int, memory: Reservation, too_large: str = TOO_LARGE) -> bytes:
    """Decompress a gzip body. Raises UnreadError if it is damaged, or has `max_bytes` or more."""
    pieces, position, parts = [], 0, 0
    try:
        while position < len(body):  # a file of gzip may have several parts
            if (parts := parts + 1) > MAX_GZIP_PARTS:
                raise UnreadError(f"its gzip has more than {MAX_GZIP_PARTS:,} parts")
            unzip = zlib.decompressobj(GZIP)
            while not unzip.eof:
                # Small chunks, because for each part zlib copies the rest of a chunk.
                if not (chunk := body[position : position + CHUNK_BYTES]):
                    raise UnreadError("its gzip is cut off")
                pieces.append(unzip.decompress(chunk, max_bytes))
                position += len(chunk) - len(unzip.unused_data)
                max_bytes -= len(pieces[-1])
                if max_bytes <= 0:
                    raise UnreadError(too_large)
                if not memory.grow(2 * len(pieces[-1])):  # the piece, and the whole
                    raise UnreadError(NO_MEMORY)
    except zlib.error:
        raise UnreadError("its gzip is damaged") from None
    return b"".join(pieces)
