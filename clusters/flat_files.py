"""Files addressed by page number. They are memory-mapped, so the system can take their memory back at any time."""

from __future__ import annotations

import mmap
import os
from array import array
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Literal

from opensearch_winnow.cython_core.overlap import pair_resemblances
from opensearch_winnow.cython_core.posting_parts import put_rows, sort_postings, split_postings
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.cython_core.token_pairs import split_pairs


class RowFile:
    """Rows of `size` bytes each."""

    def __init__(self, path: Path, rows: int, size: int) -> None:
        self.size = size
        length = max(rows * size, 1)  # an empty file cannot be mapped
        with path.open("w+b") as file:
            if hasattr(os, "posix_fallocate"):
                # Writing to a mapped page for which the disk has no room would kill the process.
                os.posix_fallocate(file.fileno(), 0, length)
            else:
                file.truncate(length)
            self._bytes = mmap.mmap(file.fileno(), length)
        self.rows = memoryview(self._bytes)[: rows * size]

    def put(self, numbers: memoryview, rows: memoryview) -> None:
        """Write `rows` at these numbers."""
        put_rows(self.rows, numbers, rows, self.size)

    def release_memory(self) -> None:
        """Give the memory back to the system until the rows are read again. They stay in the file."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._bytes.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        self.rows.release()
        self._bytes.close()


class SetFile:
    """Sorted sets of 64-bit numbers by page. Add all sets, call `complete`, then compare them."""

    def __init__(self, path: Path, pages: int) -> None:
        self._file = path.open("w+b")
        self._starts = array("Q", bytes(8 * pages))
        self._counts = array("I", bytes(4 * pages))
        self._end = 0
        self._bytes: mmap.mmap | None = None
        self._values = memoryview(b"").cast("Q")

    def __setitem__(self, page: int, values: array[int] | memoryview) -> None:
        self._starts[page] = self._end
        self._counts[page] = len(values)
        self._end += len(values)
        self._file.write(values)

    def complete(self) -> None:
        """Make the sets comparable. None can be added afterwards."""
        self._file.flush()
        if self._end:
            self._bytes = mmap.mmap(self._file.fileno(), 8 * self._end, access=mmap.ACCESS_READ)
            self._values = memoryview(self._bytes).cast("Q")

    def resemblances(self, pairs: memoryview) -> array[float]:
        """Return the resemblance of each pair of pages, NaN if one has no set."""
        return pair_resemblances(pairs, self._values, self._starts, self._counts)

    def release_memory(self) -> None:
        """Give the memory back to the system until the sets are read again. They stay in the file."""
        if self._bytes and hasattr(mmap, "MADV_DONTNEED"):
            self._bytes.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        self._values.release()
        if self._bytes:
            self._bytes.close()
        self._file.close()


class PartFiles:
    """Numbers divided into parts, each in a file of its own: small enough to be sorted in memory."""

    MAX_PARTS = 256  # for a million pages; two sets of files then stay below the usual limit of 1,024 open files
    PAGES_PER_PART = 4_000
    MIN_PARTS = 4  # so that threads share the work

    def __init__(self, folder: Path, pages: int) -> None:
        folder.mkdir()
        self.parts = min(max(pages // self.PAGES_PER_PART, self.MIN_PARTS), self.MAX_PARTS)
        self._files = [(folder / f"{part:03}").open("w+b") for part in range(self.parts)]
        self._lock = Lock()

    def _write(self, numbers: array[int], counts: Iterable[int]) -> None:
        """Write numbers that are ordered by part; `counts` has the number of them in each part."""
        start = 0
        view = memoryview(numbers)
        with self._lock:
            for file, count in zip(self._files, counts, strict=True):
                if count:
                    file.write(view[start : start + count])
                    start += count

    def _take(self, part: int, typecode: Literal["I", "Q"]) -> array[int]:
        """Return the numbers of one part, and empty its file."""
        file = self._files[part]
        numbers = array(typecode)
        count = file.seek(0, os.SEEK_END) // numbers.itemsize
        file.seek(0)
        numbers.fromfile(file, count)
        file.truncate(0)
        return numbers

    def sizes(self) -> list[int]:
        """Return the number of bytes in each part."""
        return [file.tell() for file in self._files]

    def close(self) -> None:
        for file in self._files:
            file.close()


class PostingFiles(PartFiles):
    """Sorts postings, divided by token. This takes 12 bytes of disk for each."""

    def add(self, tokens: memoryview, pages: memoryview) -> None:
        postings, counts = split_postings(tokens, pages, self.parts)
        self._write(postings, (3 * count for count in counts))

    def sorted(self, part: int) -> tuple[array[int], array[int]]:
        """Return the tokens and pages of one part, sorted by token and page, and empty its file."""
        return sort_postings(self._take(part, "I"))


class PairFiles(PartFiles):
    """Removes duplicates from pairs of pages, divided by their later page. This takes 8 bytes of disk for each."""

    def __init__(self, folder: Path, pages: int) -> None:
        super().__init__(folder, pages)
        self._pages = max(pages, 1)

    def add(self, pairs: array[int]) -> None:
        self._write(*split_pairs(pairs, self.parts, self._pages))

    def distinct(self, part: int) -> array[int]:
        """Return the distinct pairs of one part in ascending order, and empty its file."""
        return distinct(self._take(part, "Q"))
