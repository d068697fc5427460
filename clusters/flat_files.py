"""Files that are looked into by the number of a page: the memory they take is the system's to give and to take back."""

from __future__ import annotations

import mmap
import os
from array import array
from pathlib import Path

from opensearch_winnow.cython_core.overlap import pair_resemblances
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.cython_core.token_pairs import split_pairs


class RowFile:
    """Rows of one size."""

    def __init__(self, path: Path, rows: int, size: int) -> None:
        self.size = size
        room = max(rows * size, 1)  # an empty file cannot be mapped
        with path.open("w+b") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, room)  # to write to a page that the disk lacks would kill us
            else:
                file.truncate(room)
            self._bytes = mmap.mmap(file.fileno(), room)
        self.rows = memoryview(self._bytes)[: rows * size]

    def __setitem__(self, number: int, row: memoryview) -> None:
        self._bytes[number * self.size : (number + 1) * self.size] = row

    def forget(self) -> None:
        """Take no memory until it is looked into again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._bytes.madvise(mmap.MADV_DONTNEED)  # of a file, so that nothing is lost

    def close(self) -> None:
        self.rows.release()
        self._bytes.close()


class SetFile:
    """Sets of 64-bit numbers, sorted, for some of the pages: first all are added, then they are compared."""

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
        """From now on they are compared."""
        self._file.flush()
        if self._end:
            self._bytes = mmap.mmap(self._file.fileno(), 8 * self._end, access=mmap.ACCESS_READ)
            self._values = memoryview(self._bytes).cast("Q")

    def resemblances(self, pairs: memoryview) -> array[float]:
        return pair_resemblances(pairs, self._values, self._starts, self._counts)

    def close(self) -> None:
        self._values.release()
        if self._bytes:
            self._bytes.close()
        self._file.close()


class PairFiles:
    """Pairs of pages, which come again and again: written to some files, and then each once, in the order of a file.

    To divide, and to sort what then fits into memory, takes less than half of the processor time of DISTINCT in DuckDB,
    and 8 bytes of disk a pair (docs/decisions/0011-clusters.md).
    """

    PARTS = 256

    def __init__(self, folder: Path, pages: int) -> None:
        folder.mkdir()
        self._pages = max(pages, 1)
        self._files = [(folder / f"{part:03}").open("w+b") for part in range(self.PARTS)]
        self.counts = [0] * self.PARTS  # pairs that were added to each

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
        """Those of one file, in ascending order. Only once: then they are forgotten."""
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
