from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.sources import members
from opensearch_winnow.ingest.sources.members import CUT_OFF, DAMAGED, ArchiveMember, CompressedFrame, GzipMember
from tests.ingest.sources.archives import Pack, lz4, zstd


def read(member: ArchiveMember) -> tuple[bytes, int, str | None]:
    found = b""
    while piece := member.read():
        found += piece
    assert member.read() == b""
    return found, member.end, member.fault


Open = Callable[[io.BytesIO, int], ArchiveMember]
KINDS: dict[str, tuple[Pack, Open]] = {
    "gzip": (gzip.compress, GzipMember),
    "gzip, not compressed": (lambda content: gzip.compress(content, 0), GzipMember),
    "zstd": (zstd, lambda file, start: CompressedFrame(file, start, members.ZSTD)),
    "zstd without checksum": (zstandard.compress, lambda file, start: CompressedFrame(file, start, members.ZSTD)),
    "lz4": (lz4, lambda file, start: CompressedFrame(file, start, members.LZ4)),
}
each_kind = pytest.mark.parametrize(("pack", "member"), KINDS.values(), ids=KINDS)


@each_kind
@pytest.mark.parametrize("size", [1, 1_000, 65_536, 1_000_000])
def test_a_member_ends_where_the_next_starts(pack: Pack, member: Open, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    first, second = pack(content), pack(b"second")
    file = io.BytesIO(b"before" + first + second + b"after")
    assert read(member(file, 6)) == (content, 6 + len(first), None)
    assert read(member(file, 6 + len(first))) == (b"second", 6 + len(first) + len(second), None)


@each_kind
def test_a_member_that_is_cut_off_is_reported(pack: Pack, member: Open) -> None:
    content = zlib.compress(bytes(100_000), 0)
    packed = pack(content)
    for size in range(4, len(packed), max(len(packed) // 50, 1)):
        found, *rest = read(member(io.BytesIO(packed[:size]), 0))
        assert content.startswith(found)
        assert rest == [size, CUT_OFF]


@given(st.binary(min_size=10, max_size=3_000), st.data())
def test_content_before_a_fault_is_decompressed(content: bytes, data: st.DataObject) -> None:
    packed = bytearray(gzip.compress(content, 0))  # stored, so that each byte keeps its place
    at = data.draw(st.integers(15, len(packed) - 9))
    packed[at] ^= data.draw(st.integers(1, 255))
    found = read(GzipMember(io.BytesIO(bytes(packed) + b"more"), 0))
    assert found == (bytes(packed[15:-8]), len(packed), DAMAGED)  # all of the content; only the checksum is wrong


def test_a_wrong_length_is_damage() -> None:
    packed = bytearray(gzip.compress(b"content"))
    packed[-1] ^= 1
    assert read(GzipMember(io.BytesIO(bytes(packed) + b"more"), 0)) == (b"content", len(packed), DAMAGED)


def test_a_skippable_frame_is_empty() -> None:
    frame = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    assert read(CompressedFrame(io.BytesIO(frame + b"rest"), 0, members.ZSTD)) == (b"", len(frame), None)


@given(st.binary(max_size=300), st.integers(0, 300), st.integers(0, 300), st.binary(max_size=50), st.data())
def test_a_slice_of_a_file_behaves_like_a_file(
    content: bytes, start: int, end: int, before: bytes, data: st.DataObject
) -> None:
    start, end = sorted((min(start, len(content)), min(end, len(content))))
    part = io.BufferedReader(members.FileSlice(io.BytesIO(content), start, end, before), 16)
    same = io.BytesIO(before + content[start:end])
    assert part.read() == same.read()
    for _ in range(3):
        at, size = data.draw(st.integers(0, 400)), data.draw(st.integers(0, 100))
        assert part.seek(at) == same.seek(at)
        assert part.read(size) == same.read(size)
    assert part.seek(0, io.SEEK_END) == same.seek(0, io.SEEK_END)
