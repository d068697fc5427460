"""Opens a file for writing, compressed as its name says."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from opensearch_winnow.foundation.atomic_file import new_file, reporting_os_errors
from opensearch_winnow.foundation.errors import FileError

if TYPE_CHECKING:
    from typing_extensions import Buffer

PACKINGS = (".gz", ".zst")
_PIECE = 1 << 20


@contextmanager
def open_new(target: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears when the block ends without an error, compressed if its name ends in .gz or .zst."""
    packing = target.suffix if target.suffix in PACKINGS else ""
    with new_file(target) as path, open_packed(path, packing, target) as file:
        yield file


def open_packed(path: Path, packing: str, target: Path) -> IO[bytes]:
    """Open `path` for writing with the compression `packing`: .gz, .zst or none. The same bytes in every run.

    A system error while writing is a FileError about `target`, so that it is not mistaken for a read error.
    """
    with reporting_os_errors(target), ExitStack() as opened:
        file = opened.enter_context(path.open("wb", buffering=0))
        packed = _Packed(file, packing, target)  # gzip writes its header at once
        opened.pop_all()
    return cast("IO[bytes]", io.BufferedWriter(packed, _PIECE))


def close_unfinished(file: IO[bytes]) -> None:
    """Close a file of `open_packed` that will be removed, whatever happened."""
    with suppress(FileError, ValueError):  # ValueError: an error, or Ctrl-C, came while it was being closed
        file.close()


class _Packed(io.RawIOBase):
    def __init__(self, file: io.FileIO, packing: str, target: Path) -> None:
        self._target = target
        self._files: list[IO[bytes]] = [cast("IO[bytes]", file)]  # the one to write to is the last
        if packing == ".gz":
            self._files.append(cast("IO[bytes]", gzip.GzipFile("", "wb", 6, cast("IO[bytes]", _Whole(file)), 0)))
        elif packing == ".zst":
            import zstandard  # noqa: PLC0415 (rare)

            context = zstandard.ZstdCompressor(level=3, write_checksum=True)
            self._files.append(cast("IO[bytes]", context.stream_writer(cast("IO[bytes]", _Whole(file)), closefd=False)))

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        with reporting_os_errors(self._target):
            return self._files[-1].write(cast("bytes", data))

    def close(self) -> None:
        with reporting_os_errors(self._target):
            try:
                while self._files:
                    self._files.pop().close()
            finally:
                while self._files:
                    self._files.pop().close()
                super().close()


class _Whole:
    """Writes all bytes, where the system may write some and leave the rest to the caller."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def write(self, data: Buffer) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            left = left[self._file.write(left) :]
        return size

    def flush(self) -> None:
        pass
