"""Reads the fields of a WARC or HTTP header."""

from __future__ import annotations

import re

HEAD = 65_536  # bytes that a header may have: servers allow 8 to 32 kB, and a WARC header is shorter

_END = re.compile(rb"\n\r*\n")


def end_of_header(block: bytes, limit: int = HEAD) -> int | None:
    """Return where the first empty line ends, or None if it is beyond `limit`. Lines end with CRLF, LF or CR CR LF."""
    found = _END.search(block, 0, limit)
    return found.end() if found else None


class Fields:
    """The values of a header by name. Searching for each is faster than parsing the whole header."""

    __slots__ = ("_header", "_lower")

    def __init__(self, header: bytes) -> None:
        self._header, self._lower = header, header.lower()

    def all(self, name: bytes) -> list[bytes]:
        """Return all values of the field `name`, which is in lower case."""
        found: list[bytes] = []
        mark = b"\n" + name + b":"
        at = self._lower.find(mark)
        while at >= 0:
            start = at + len(mark)
            at = end = self._line_end(start)
            while self._header[end + 1 : end + 2] in (b" ", b"\t"):  # it goes on in the next line
                end = self._line_end(end + 1)
            found.append(b" ".join(self._header[start:end].split()) if end > at else self._header[start:end].strip())
            at = self._lower.find(mark, end)
        return found

    def get(self, name: bytes) -> str:
        """Return the first value of the field `name`, or "" if there is none."""
        mark = b"\n" + name + b":"
        at = self._lower.find(mark)
        if at < 0:
            return ""
        start = at + len(mark)
        end = self._header.find(b"\n", start)
        if end < 0 or self._header[end + 1 : end + 2] in (b" ", b"\t"):
            return text(self.all(name)[0])
        return text(self._header[start:end].strip())

    def _line_end(self, start: int) -> int:
        end = self._header.find(b"\n", start)
        return len(self._header) if end < 0 else end


def text(value: bytes) -> str:
    """Decode as UTF-8, or else as Latin-1, in which different bytes stay different."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
