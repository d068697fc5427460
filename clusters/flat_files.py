"""Files addressed by page number. They are memory-mapped, so the system can take their memory back at any time."""

from __future__ import annotations

import mmap
import os
from array import array
from pathlib import Path

from opensearch_winnow.cython_core.overlap import pair_resemblances
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

    def __setitem__(self, number: int, row: memoryview) -> None:
        self._bytes[number * self.size : (number + 1) * self.size] = row

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

    def __setitem__(self, page: int, values: array[int]) -> None:
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

    def close(self) -> None:
        self._values.release()
        if self._bytes:
            self._bytes.close()
        self._file.close()


class PairFiles:
    """Removes duplicates from pairs of pages: divides them by page into PARTS files, and sorts each file in memory.

    This takes less than half of the processor time of DISTINCT in DuckDB, and 8 bytes of disk for each pair
    (docs/decisions/0011-clusters.md).
    """

    PARTS = 256

    def __init__(self, folder: Path, pages: int) -> None:
        folder.mkdir()
        self._pages = max(pages, 1)
        self._files = [(folder / f"{part:03}").open("w+b") for part in range(self.PARTS)]
        self.counts = [0] * self.PARTS  # pairs added to each file, with duplicates

    def add(self, pairs: array[int]) -> None:
        parts, counts = split_pairs(pairs, self.PARTS, self._pages)
        start = 0
        view = memoryview(parts)
        for part, count in enumerate(counts):
            if count:
                self._files[part].write(view[start : start + count])
                self.counts[part] += count
                start += count

    def distinct(self, part: int) -> array[int]:
        """Return the different pairs of one file in ascending order, and empty the file."""
        file = self._files[part]
        count = file.seek(0, os.SEEK_END) // 8
        file.seek(0)
        pairs = array("Q")
        pairs.fromfile(file, count)
        file.truncate(0)
        return distinct(pairs)

    def close(self) -> None:
        for file in self._files:
            file.close()
