"""Opens a file that may be compressed with gzip or Zstandard."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # their first bytes
_PIECE = 65_536
_ZSTD_PIECE = 128  # compressed bytes at a time: zstandard cannot limit its output, and these become 4 MB at most


class DamagedError(Exception):
    """Compressed data that cannot be read any further. The message is a reason, by which pages are counted."""

    def __init__(self, reason: str, file: IO[bytes], piece: bytes = b"") -> None:
        super().__init__(reason)
        size = os.fstat(file.fileno()).st_size - file.tell() if file.seekable() else 0
        self.left = size + len(piece)  # bytes of the file that cannot be read


def unpacked(path: str) -> IO[bytes]:
    """Open a file without its compression. Reading raises DamagedError where the compressed data is damaged."""
    file = open(path, "rb")  # noqa: PTH123, SIM115 (the caller closes it)
    try:
        return unpacked_stream(file)
    except BaseException:
        file.close()
        raise


def unpacked_stream(file: io.BufferedReader) -> io.BufferedReader:
    """Return a stream without its compression, like `unpacked`."""
    return io.BufferedReader(_Unpacked(file), _PIECE) if is_packed(file.peek(4)) else file


def is_packed(head: bytes) -> bool:
    return head.startswith((GZIP, ZSTD)) or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] < 0x60)  # skippable


class _Unpacked(io.RawIOBase):
    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._pieces = _gunzip(file) if file.peek(2).startswith(GZIP) else _unzstd(file)
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._piece = self._piece or memoryview(next(self._pieces, b""))
        into = memoryview(buffer)
        taken = min(len(into), len(self._piece))
        into[:taken] = self._piece[:taken]
        self._piece = self._piece[taken:]
        return taken

    def close(self) -> None:
        self._file.close()
        super().close()


def _gunzip(file: io.BufferedReader) -> Iterator[bytes]:
    """Yield the content of any number of gzip members. Zeros behind them, as tapes add, are skipped."""
    rest = file.read(_PIECE)
    try:
        while rest:
            member = zlib.decompressobj(wbits=31)
            while True:
                if piece := member.decompress(rest, 4 * _PIECE):
                    yield piece
                if member.eof:
                    break
                rest = member.unconsumed_tail or file.read(_PIECE)
                if not rest:
                    raise DamagedError("gzip that is cut off", file)
            rest = member.unused_data.lstrip(b"\0")
            while not rest and (more := file.read(_PIECE)):
                rest = more.lstrip(b"\0")
    except zlib.error:
        raise DamagedError("damaged gzip", file, rest) from None


def _unzstd(file: io.BufferedReader) -> Iterator[bytes]:
    import zstandard  # noqa: PLC0415 (rare)

    context = zstandard.ZstdDecompressor()
    rest = file.read(_ZSTD_PIECE)
    try:
        while rest:
            frame = context.decompressobj()
            while True:
                if piece := frame.decompress(rest):
                    yield piece
                if frame.eof:
                    break
                rest = file.read(_ZSTD_PIECE)
                if not rest:
                    raise DamagedError("Zstandard that is cut off", file)
            rest = frame.unused_data or file.read(_ZSTD_PIECE)
    except zstandard.ZstdError:
        raise DamagedError("damaged Zstandard", file, rest) from None
