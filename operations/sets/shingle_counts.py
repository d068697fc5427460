"""Counts the documents of a set that have each shingle, on disk: in memory are one block, or one part of all blocks."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Self

from opensearch_winnow.cython_core.repeated_shingles import count_documents, split_shingles, take_marks
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress, no_progress

PARTS = 256  # 5 billion shingles then have parts of 20 million, which take 0.9 GB to sort
SHINGLES_PER_BLOCK = 1 << 21  # 16 MB; a part of a block is 64 kB, enough to be read and written at once
COUNTING = "counting passages"


class ShingleCountsError(WinnowError):
    """A set that cannot be counted: its disk is full, or it changed between the two passes."""


class ShingleCounts:
    """Counts documents in two passes over a set: `add` the shingles of each, `count`, then ask for their `marks`.

    Both passes have the same documents in the same order. This takes 12 bytes of disk for each shingle, in files
    without a name: nothing is left of them when the process ends, in whatever way.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = Path(folder or tempfile.gettempdir())
        with self._reporting_full_disk():
            self._shingles = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (close() closes it)
            self._marks = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        self._starts = [0]  # of each block, and the end of the last: shingles before it
        self._sizes: list[array[int]] = []  # of the parts of each block
        self._documents: list[int] = []  # in each block
        self._waiting, self._ends = array("Q"), array("I")
        self._reader: Iterator[_Block] | None = None
        self._block: _Block | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shingles.close()
        self._marks.close()

    def add(self, shingles: array[int]) -> None:
        """Add the shingles of the next document, which has at least one."""
        self._waiting += shingles
        self._ends.append(len(self._waiting))
        if len(self._waiting) >= SHINGLES_PER_BLOCK:
            self._write_block()

    def count(self, progress: Progress = no_progress) -> None:
        """Count the documents of every shingle. None can be added afterwards."""
        if self._ends:
            self._write_block()
        offsets = self._starts[:-1]  # of the current part in each block
        for part in range(PARTS):
            progress(COUNTING, part, PARTS)
            sizes = [block[part] for block in self._sizes]
            shingles = b"".join(
                os.pread(self._shingles.fileno(), 8 * size, 8 * offset)
                for offset, size in zip(offsets, sizes, strict=True)
            )
            marks = memoryview(count_documents(memoryview(shingles).cast("Q")))
            done = 0
            with self._reporting_full_disk():
                for offset, size in zip(offsets, sizes, strict=True):
                    _write_at(self._marks.fileno(), marks[done : done + size], 4 * offset)
                    done += size
            offsets = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
        self._reader = self._blocks()

    def marks(self, shingles: array[int], width: int) -> array[int]:
        """Return the marks of the next document's shingles of `width` words, as repeated_shingles.pyx defines them."""
        assert self._reader is not None, "count() first"
        if self._block is None or not self._block.documents:
            self._block = next(self._reader, None)
        if self._block is None:
            raise _changed()
        try:
            marks = take_marks(shingles, width, self._block.shingles, self._block.marks, self._block.positions)
        except ValueError:
            raise _changed() from None
        self._block.documents -= 1
        return marks

    def _write_block(self) -> None:
        block, sizes = split_shingles(self._waiting, self._ends, PARTS)
        with self._reporting_full_disk():
            _write_at(self._shingles.fileno(), memoryview(block), 8 * self._starts[-1])
        self._starts.append(self._starts[-1] + len(block))
        self._sizes.append(sizes)
        self._documents.append(len(self._ends))
        self._waiting, self._ends = array("Q"), array("I")

    def _blocks(self) -> Iterator[_Block]:
        for (start, end), sizes, documents in zip(pairwise(self._starts), self._sizes, self._documents, strict=True):
            size = end - start
            shingles = memoryview(os.pread(self._shingles.fileno(), 8 * size, 8 * start)).cast("Q")
            marks = memoryview(os.pread(self._marks.fileno(), 4 * size, 4 * start)).cast("I")
            yield _Block(shingles, marks, array("I", [0, *accumulate(sizes[:-1])]), documents)

    @contextmanager
    def _reporting_full_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == ENOSPC:
                full = f"the disk of the work folder {self._folder} is full"
                message = f"{full}: free some space, or name another with --work"
            else:
                message = f"cannot work in the folder {self._folder}: {error.strerror}"
            raise ShingleCountsError(message) from None


class _Block:
    def __init__(self, shingles: memoryview, marks: memoryview, positions: array[int], documents: int) -> None:
        self.shingles, self.marks, self.positions, self.documents = shingles, marks, positions, documents


def _write_at(descriptor: int, numbers: memoryview, offset: int) -> None:
    rest = numbers.cast("B")
    while rest:  # one call writes at most 2 GB
        written = os.pwrite(descriptor, rest, offset)
        rest, offset = rest[written:], offset + written


def _changed() -> ShingleCountsError:
    return ShingleCountsError("the rows changed while they were read; run this again when nothing writes to them")
