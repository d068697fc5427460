"""Files that are looked into by the number of a page: the memory they take is the system's to give and to take back."""

from __future__ import annotations

import mmap
from array import array
from pathlib import Path
from typing import Self

from opensearch_winnow.cython_core.overlap import pair_resemblances


class RowFile:
    """Rows of one size. One that was never written is zeros, and takes no room."""

    def __init__(self, path: Path, rows: int, size: int) -> None:
        self.size = size
        with path.open("w+b") as file:
            file.truncate(max(rows * size, 1))  # an empty file cannot be mapped
            self._bytes = mmap.mmap(file.fileno(), max(rows * size, 1))
        self.rows = memoryview(self._bytes)[: rows * size]

    def __setitem__(self, number: int, row: memoryview) -> None:
        self._bytes[number * self.size : (number + 1) * self.size] = row

    def close(self) -> None:
        self.rows.release()
        self._bytes.close()


class SetFile:
    """Sets of 64-bit numbers, sorted, for some of the pages: first all are added, then they are compared."""

    def __init__(self, path: Path, pages: int) -> None:
        self._path = path
        self._file = path.open("wb")
        self._starts = array("Q", bytes(8 * pages))
        self._counts = array("I", bytes(4 * pages))
        self._end = 0

    def __setitem__(self, page: int, values: array[int]) -> None:
        self._starts[page] = self._end
        self._counts[page] = len(values)
        self._end += len(values)
        self._file.write(values)

    def __enter__(self) -> Self:
        """To compare them."""
        self._file.close()
        with self._path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 8 * self._end, access=mmap.ACCESS_READ) if self._end else None
        self._values = memoryview(self._bytes or b"").cast("Q")
        return self

    def resemblances(self, pairs: array[int]) -> array[float]:
        return pair_resemblances(pairs, self._values, self._starts, self._counts)

    def __exit__(self, *_: object) -> None:
        self._values.release()
        if self._bytes:
            self._bytes.close()
