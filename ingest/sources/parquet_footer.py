"""Reads the footer of a Parquet file in plain Python: the names of its columns, and the sizes of its row groups.

Arrow aborts the process over some damaged footers. The process that plans a run must survive every file, so it reads
footers here, and Arrow opens the file only in a worker. A footer is a Thrift structure in the compact protocol; its
fields have the numbers of parquet.thrift.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, NamedTuple

# A table of pages has a few columns. Arrow takes 6 kB for each of them, in each worker.
MAX_COLUMNS = 10_000
MAX_FOOTER_BYTES = 32 << 20  # some 20,000 row groups of 20 columns, which are read in ten seconds

_TAIL = 8  # the length of the footer, and the signature
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_NUMBERS = (4, 5, 6)  # integers of 16, 32 and 64 bits, in groups of seven bits
_MAX_SHIFT = 63  # bits in front of the last group of a 64-bit integer
_LONG_LIST = 15  # the length of a list that is written separately


class FooterError(Exception):
    """A footer that cannot be read. The message says what is wrong with the file."""


class RowGroup(NamedTuple):
    """The size of a row group, as the footer has it."""

    rows: int
    compressed: int  # bytes of all its columns


class Footer(NamedTuple):
    """The facts about a Parquet file that are needed to divide it."""

    names: list[str]  # of the columns, without the fields within them
    groups: list[RowGroup]


def read_footer(file: IO[bytes]) -> Footer:
    """Return the footer of an open file. Raises FooterError for every footer that is not one."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] == b"PARE":
        raise FooterError("it is encrypted")
    if tail[4:] != b"PAR1" or length > size - _TAIL - 4:  # the signature is also in front
        raise FooterError("it has no footer, so its end is missing")
    if length > MAX_FOOTER_BYTES:
        raise FooterError(f"its footer has {length:,} bytes, and at most {MAX_FOOTER_BYTES:,} are read")
    file.seek(size - _TAIL - length)
    try:
        return _Thrift(file.read(length)).footer()
    except (IndexError, RecursionError):
        raise FooterError("its footer is damaged") from None


class _Thrift:
    """Reads values from the start of `data` on. Raises IndexError at its end, and where it makes no sense."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def footer(self) -> Footer:
        names: list[str] = []
        groups: list[RowGroup] = []
        for field, kind in self._fields():
            if (field, kind) == (2, _LIST):
                names = self._names()
            elif (field, kind) == (4, _LIST):
                groups = [self._row_group() for _ in range(self._structs())]
            else:
                self._skip(kind)
        return Footer(names, groups)

    def _names(self) -> list[str]:
        """Return the names of the columns from the schema, a tree in which each node is followed by its children."""
        count = self._structs()
        if count - 1 > MAX_COLUMNS:  # without the root
            raise FooterError(f"it has {count - 1:,} columns, and at most {MAX_COLUMNS:,} are read")
        names: list[str] = []
        left: list[int] = []  # children that have not come yet: those of the root, and of each node on the way down
        for _ in range(count):
            name, children = b"", 0
            for field, kind in self._fields():
                if (field, kind) == (4, _BINARY):
                    name = self._binary()
                elif field == 5 and kind in _NUMBERS:
                    children = self._number()
                else:
                    self._skip(kind)
            if len(left) == 1:
                names.append(name.decode("utf-8", "replace"))
            if left:
                left[-1] -= 1
            left.append(children)
            while left and left[-1] <= 0:
                left.pop()
        return names

    def _row_group(self) -> RowGroup:
        rows = compressed = 0
        for field, kind in self._fields():
            if (field, kind) == (1, _LIST):
                compressed = sum(self._chunk() for _ in range(self._structs()))
            elif field == 3 and kind in _NUMBERS:
                rows = self._number()
            else:
                self._skip(kind)
        if rows < 0 or compressed < 0:
            raise IndexError
        return RowGroup(rows, compressed)

    def _chunk(self) -> int:
        """Return the compressed bytes of a column in a row group."""
        compressed = 0
        for field, kind in self._fields():
            if (field, kind) == (3, _STRUCT):
                compressed = self._number_of_struct(7)
            else:
                self._skip(kind)
        return compressed

    # --- the compact protocol -------------------------------------------------------------------------------------

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct. The caller reads or skips its value."""
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            yield field, head & 15

    def _structs(self) -> int:
        """Return the length of a list of structs, each of which has one byte at least."""
        head = self._byte()
        length = head >> 4 if head >> 4 != _LONG_LIST else self._varint()
        if length and (head & 15 != _STRUCT or length > len(self._data) - self._at):
            raise IndexError
        return length

    def _skip(self, kind: int) -> None:
        if kind in _NUMBERS:
            while self._byte() >= 128:
                pass
        elif kind == _BINARY:
            self._move(self._varint())
        elif kind == _STRUCT:
            self._number_of_struct(0)
        elif kind in (_LIST, _SET):
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 != _LONG_LIST else self._varint()):
                self._skip_element(head & 15)
        elif kind == _MAP:
            if length := self._varint():
                kinds = self._byte()
                for _ in range(length):
                    self._skip_element(kinds >> 4)
                    self._skip_element(kinds & 15)
        elif kind in (_BYTE, _DOUBLE):
            self._move(1 if kind == _BYTE else 8)
        elif kind not in (_TRUE, _FALSE):  # whose type is the value
            raise IndexError

    def _number_of_struct(self, wanted: int) -> int:
        """Go to the end of a struct, and return the number in its field `wanted`, or 0.

        A large footer consists mostly of what is skipped here, so this avoids a call for each byte.
        """
        data, at, field, number = self._data, self._at, 0, 0
        while head := data[at]:
            at += 1
            kind, delta = head & 15, head >> 4
            field += delta
            if delta and kind in _NUMBERS and field != wanted:
                while data[at] >= 128:
                    at += 1
                at += 1
                continue
            self._at = at
            if not delta:
                field = self._number()
            if kind in _NUMBERS:
                value = self._number()
                number = value if field == wanted else number
            else:
                self._skip(kind)
            at = self._at
        self._at = at + 1
        return number

    def _skip_element(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            self._move(1)
        else:
            self._skip(kind)

    def _binary(self) -> bytes:
        length = self._varint()
        self._move(length)
        return self._data[self._at - length : self._at]

    def _number(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >= 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > _MAX_SHIFT:
                raise IndexError
        return value | byte << shift

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _move(self, length: int) -> None:
        self._at += length
        if self._at > len(self._data):
            raise IndexError
