"""A web archive as a file: whether it is compressed and how, and where in it records may start."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import IO, NamedTuple

from opensearch_winnow.ingest.sources.header_fields import HEAD
from opensearch_winnow.ingest.sources.members import (
    GZIP,
    PLAIN,
    STARTS,
    ZSTD,
    Frame,
    GzipMember,
    Member,
    begin_of_gzip,
    dictionary_of,
)

LINE = 8_192  # bytes within which the start of a record can be told

_BLOCK = 1 << 20  # bytes to search at a time
_SOME = 4_096  # compressed bytes that have a first line in them
_BLANK = re.compile(rb"[\r\n]*")


class Grammar(NamedTuple):
    """How records of a format begin."""

    start: re.Pattern[bytes]
    header: Callable[[bytes], tuple[int, int | None] | None]  # its length, and that of the content; None if it is none


def blank(data: bytes | bytearray) -> int:
    """How many bytes of empty lines come first."""
    found = _BLANK.match(data)
    return found.end() if found else 0


class Archive:
    """A file of records. Each is in a member of its own if it is compressed as it should be."""

    def __init__(self, file: IO[bytes], grammar: Grammar) -> None:
        self.file, self.grammar = file, grammar
        self.size = file.seek(0, io.SEEK_END)
        head = self.piece(0, LINE)
        self.kind = next((kind for kind, pattern in STARTS.items() if pattern.match(head)), "")
        self.dictionary = dictionary_of(file) if self.kind == ZSTD else None
        self.kind = self.kind or (PLAIN if grammar.start.match(head, blank(head)) else self._kind_of_first())

    def piece(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        return self.file.read(size)

    def begins(self, start: bytes = b"") -> bool:
        """Whether the file starts with a record, as far as its beginning tells; and this with `start`."""
        head = self.piece(0, LINE) if self.kind == PLAIN else self.member(0).read()
        at = blank(head)
        return self.grammar.start.match(head, at) is not None and head.startswith(start, at)

    def header(self, at: int) -> tuple[int, int | None] | None:
        """The lengths of a header that starts here in a file without members, and of its content."""
        return self.grammar.header(self.piece(at, LINE)) or self.grammar.header(self.piece(at, HEAD))

    def after_blank(self, at: int) -> int:
        while True:
            piece = self.piece(at, 256)
            at += blank(piece)
            if blank(piece) < len(piece) or not piece:
                return at

    def is_member(self, at: int) -> bool:
        return STARTS[self.kind].match(self.piece(at, 4)) is not None

    def member(self, at: int) -> Member:
        if self.kind == GZIP:
            return GzipMember(self.file, at)
        return Frame(self.file, at, self.kind, self.dictionary[1] if self.dictionary else None)

    def next_start(self, at: int, end: int | None = None) -> int | None:
        """Where the first record starts, or a member that starts with one, at or after `at` and before `end`.

        It may be one of another archive, which is content of a record.
        """
        end = self.size if end is None else min(end, self.size)
        pattern = self.grammar.start if self.kind == PLAIN else STARTS[self.kind]
        while at < end:
            shift = max(at - 1, 0)  # a pattern may look at the byte before
            for found in pattern.finditer(self.piece(shift, _BLOCK + LINE), at - shift):
                start = shift + found.start()
                if start >= min(end, at + _BLOCK):
                    break
                if self._is_start(start):
                    return start
            at += _BLOCK
        return None

    def _is_start(self, at: int) -> bool:
        if self.kind == PLAIN:
            return self.header(at) is not None
        content = begin_of_gzip(self.piece(at, _SOME)) if self.kind == GZIP else self.member(at).read()
        return self.grammar.start.match(content) is not None

    def _kind_of_first(self) -> str:
        """The kind of a file that does not start as any does, by what is found in it.

        Headers can be legible in compressed data, but there what follows is not as long as they say.
        """
        self.kind = PLAIN
        at = self.next_start(0)
        header = None if at is None else self.header(at)
        if at is not None and header and header[1] is not None:
            follows = self.after_blank(at + header[0] + header[1])
            if follows == self.size or self.header(follows):
                return PLAIN
        firsts = {}
        for self.kind in STARTS:
            first = self.next_start(0)
            if first is not None:
                firsts[first] = self.kind
        return firsts[min(firsts)] if firsts else PLAIN
