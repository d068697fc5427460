"""Bodies with gzip are read as gzip itself reads them, up to a size."""

from __future__ import annotations

import asyncio
import gzip
from random import Random

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.gateway.limits import MAX_GZIP_PARTS, Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.request_body import CHUNK_BYTES, UnreadError, decompressed

GZIP = {"content-type": "application/json", "content-encoding": "gzip"}
CONTENTS = st.integers(0, 3 * CHUNK_BYTES).map(lambda size: Random(size).randbytes(size))


def unzipped(body: bytes, max_bytes: int) -> bytes:
    with MemoryBudget(10_000_000).reservation() as memory:
        return asyncio.run(decompressed(GZIP, body, max_bytes, Limits(), memory))


@given(st.lists(CONTENTS, max_size=8))
def test_several_parts_are_read(parts: list[bytes]) -> None:
    body = b"".join(gzip.compress(part, mtime=0) for part in parts)
    assert unzipped(body, 1_000_000) == b"".join(parts)


@given(CONTENTS, st.data())
def test_a_body_that_is_cut_off_is_not_read(content: bytes, data: st.DataObject) -> None:
    body = gzip.compress(content, mtime=0)
    with pytest.raises(UnreadError, match="its gzip is"):
        unzipped(body[: data.draw(st.integers(1, len(body) - 1))], 1_000_000)


def test_a_body_that_becomes_too_large_is_not_read() -> None:
    with pytest.raises(UnreadError, match="larger than --max-body"):
        unzipped(gzip.compress(bytes(1_000_000)), 100_000)
    with pytest.raises(UnreadError, match="unpacked, it has more than 200 times its size"):
        unzipped(gzip.compress(bytes(2_000_000)), 2_000_000)
    with pytest.raises(UnreadError, match="its gzip is damaged"):
        unzipped(b"no gzip at all", 100_000)
    with pytest.raises(UnreadError, match="its gzip has more than 1,000 parts"):
        unzipped(gzip.compress(b"", mtime=0) * (MAX_GZIP_PARTS + 1), 100_000)
    assert unzipped(gzip.compress(b"", mtime=0) * MAX_GZIP_PARTS, 100_000) == b""
