"""Reads the members of a compressed archive: gzip members, Zstandard and LZ4 frames."""

from __future__ import annotations

import io
import re
import zlib
from typing import IO, Protocol

import zstandard

from opensearch_winnow.foundation.extras import extra

GZIP, ZSTD, LZ4, PLAIN = "gzip", "zstd", "lz4", "plain"
STARTS = {
    GZIP: re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),  # the only method, and any of five flags
    ZSTD: re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # the second is a skippable frame
    LZ4: re.compile(rb"\x04\x22\x4d\x18"),
}
DICTIONARY = b"\x5d\x2a\x4d\x18"  # a skippable frame with the dictionary for all others

CUT_OFF = "cut off in the archive"
DAMAGED = "damaged in the archive"

_ZSTD = b"\x28\xb5\x2f\xfd"
_MIN_FRAME_BYTES = 24  # a header and a block take more
_PIECE = 65_536
_MAX_DICTIONARY_BYTES = 1 << 20  # the limit of FastWARC


class ArchiveMember(Protocol):
    """The content of a member. `end` and `fault` are known when all of it has been read."""

    end: int
    fault: str | None

    def read(self) -> bytes:
        """Return the next few bytes, or b"" after the last."""


class FileSlice(io.RawIOBase):
    """A part of a file as a file of its own, preceded by the bytes `before`."""

    def __init__(self, file: IO[bytes], start: int, end: int, before: bytes = b"") -> None:
        super().__init__()
        self._file, self._before = file, before
        self._shift = start - len(before)
        self._size = end - self._shift
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        size = min(len(buffer), max(self._size - self._at, 0))
        piece = self._before[self._at : self._at + size]
        if not piece and size:
            self._file.seek(self._shift + self._at)
            piece = self._file.read(size)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at


class GzipMember:
    """A gzip member, with its checksum and length checked."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self.end = start
        self.fault: str | None = None
        self._file = file
        self._next = start  # the first byte that was not read yet
        self._left = b""  # bytes that were read and not inflated yet
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._over = False

    def read(self) -> bytes:
        while not self._over:
            if not self._left:
                self._file.seek(self._next)
                self._left = self._file.read(_PIECE)
                self._next += len(self._left)
            piece, before = self._left, self._inflate.copy()
            try:
                content = self._inflate.decompress(piece, _PIECE)
            except zlib.error as error:
                return self._up_to_fault(before, piece, str(error))
            self._left = self._inflate.unconsumed_tail
            if self._inflate.eof:
                self._over, self.end = True, self._next - len(self._inflate.unused_data)
            elif not piece and not content:
                self._over, self.end, self.fault = True, self._next, CUT_OFF
            if content:
                return content
        return b""

    def _up_to_fault(self, before: zlib._Decompress, piece: bytes, error: str) -> bytes:
        """Return the bytes that can be inflated before the fault, which zlib itself drops."""
        good, bad = 0, len(piece)
        while good < bad - 1:
            middle = (good + bad) // 2
            try:
                before.copy().decompress(piece[:middle])
            except zlib.error:
                bad = middle
            else:
                good = middle
        # A wrong checksum is noticed at its last byte, and the length follows it.
        rest = 5 if "data check" in error else 1 if "length check" in error else 0
        self._over, self.fault = True, DAMAGED
        self.end = min(self._next - len(piece) + good + rest, self._file.seek(0, io.SEEK_END))
        return before.decompress(piece[:good])


def first_gzip_content(piece: bytes) -> bytes:
    """Return the first bytes of content if `piece` is the start of a gzip member, or b""."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(piece, _PIECE)
    except zlib.error:
        return b""


class CompressedFrame:
    """A Zstandard or LZ4 frame. Its checksum, which is optional in both, is checked if there is one."""

    def __init__(self, file: IO[bytes], start: int, kind: str, dictionary: bytes | None = None) -> None:
        size = file.seek(0, io.SEEK_END)
        self.end, self.fault = (_zstd_end if kind == ZSTD else _lz4_end)(file, start, size)
        to_skip = kind == ZSTD and _bytes(file, start, 4) != _ZSTD
        self._empty = to_skip or (self.fault == DAMAGED and self.end - start < _MIN_FRAME_BYTES)
        if not self._empty:
            with extra("archives"):
                from fastwarc.stream_io import Lz4Reader, ZstdReader  # noqa: PLC0415

            frame = FileSlice(file, start, self.end)
            self._reader = ZstdReader(frame, dictionary=dictionary) if kind == ZSTD else Lz4Reader(frame)

    def read(self) -> bytes:
        if self._empty:
            return b""
        try:
            content = self._reader.read(_PIECE)
        except OSError:
            self.fault = self.fault or DAMAGED
            content = b""
        self._empty = not content
        return content


def dictionary_of(file: IO[bytes]) -> tuple[bytes, bytes] | None:
    """Return the first frame of a Zstandard file and the dictionary in it; None if it does not hold one."""
    head = _bytes(file, 0, 8)
    size = int.from_bytes(head[4:], "little")
    if head[:4] != DICTIONARY or size > _MAX_DICTIONARY_BYTES:
        return None
    frame = head + _bytes(file, 8, size)
    dictionary = frame[8:]
    if dictionary.startswith(_ZSTD):
        try:
            with zstandard.ZstdDecompressor().stream_reader(dictionary) as reader:
                dictionary = reader.read(_MAX_DICTIONARY_BYTES)
        except zstandard.ZstdError:
            return None
    return frame, dictionary


def _bytes(file: IO[bytes], start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def _zstd_end(file: IO[bytes], start: int, size: int) -> tuple[int, str | None]:
    """Return the end of a frame, by the lengths of its blocks, and its fault if it has one."""
    head = _bytes(file, start, 18)  # bytes of the longest header
    if head[:4] != _ZSTD:
        end = start + 8 + int.from_bytes(head[4:8], "little")
        return (end, None) if end <= size and len(head) >= 8 else (size, CUT_OFF)
    try:
        at = start + zstandard.frame_header_size(head)
        checksum = 4 if zstandard.get_frame_parameters(head).has_checksum else 0
    except zstandard.ZstdError:
        return (size, CUT_OFF) if len(head) < 18 else (start + 4, DAMAGED)
    while True:
        block = int.from_bytes(_bytes(file, at, 3), "little")
        if block >> 1 & 3 == 3:  # a reserved type
            return at, DAMAGED
        at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if at + checksum > size:
            return size, CUT_OFF
        if block & 1:
            return at + checksum, None


def _lz4_end(file: IO[bytes], start: int, size: int) -> tuple[int, str | None]:
    flags = _bytes(file, start, 5)[4:]
    if not flags:
        return size, CUT_OFF
    at = start + 7 + (8 if flags[0] & 8 else 0) + (4 if flags[0] & 1 else 0)
    of_block, of_all = (4 if flags[0] & 16 else 0), (4 if flags[0] & 4 else 0)
    while at + 4 <= size:
        block = int.from_bytes(_bytes(file, at, 4), "little") & 0x7FFF_FFFF  # the highest bit: not compressed
        if block > 4 << 20:  # the format allows no larger one
            return at, DAMAGED
        at += 4
        if not block:
            return (at + of_all, None) if at + of_all <= size else (size, CUT_OFF)
        at += block + of_block
    return size, CUT_OFF
