"""Reads a web archive as a file: how it is compressed, and where records may start in it."""

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
    ArchiveMember,
    CompressedFrame,
    GzipMember,
    dictionary_of,
    first_gzip_content,
)

MAX_START_BYTES = 8_192  # enough bytes to recognise the start of a record

_BLOCK = 1 << 20  # bytes that are searched at a time
_COMPRESSED_START = 4_096  # bytes: enough to hold the first line, compressed
_BLANK = re.compile(rb"[\r\n]*")


class Grammar(NamedTuple):
    """The pattern and the parser for the start of a record, in one format of archives."""

    start: re.Pattern[bytes]
    header: Callable[[bytes], tuple[int, int | None] | None]  # lengths of header and content; None: no header


def blank(data: bytes | bytearray) -> int:
    """Return the number of bytes that empty lines take at the start of `data`."""
    found = _BLANK.match(data)
    return found.end() if found else 0


class Archive:
    """A file of records. If it is compressed as it should be, each record is a member of its own."""

    def __init__(self, file: IO[bytes], grammar: Grammar, name: str = "") -> None:
        self.file, self.grammar, self.name = file, grammar, name
        self.size = file.seek(0, io.SEEK_END)
        head = self.piece(0, MAX_START_BYTES)
        self.kind = next((kind for kind, pattern in STARTS.items() if pattern.match(head)), "")
        self.dictionary = dictionary_of(file) if self.kind == ZSTD else None
        self.kind = self.kind or (PLAIN if grammar.start.match(head, blank(head)) else self._kind_of_first())

    def piece(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        return self.file.read(size)

    def begins(self, start: bytes = b"") -> bool:
        """Return whether the file starts with a record, as far as its first bytes show, and the record with `start`."""
        head = self.piece(0, MAX_START_BYTES) if self.kind == PLAIN else self.member(0).read()
        at = blank(head)
        return self.grammar.start.match(head, at) is not None and head.startswith(start, at)

    def header(self, at: int) -> tuple[int, int | None] | None:
        """Return the lengths of the header at `at` and of its content, in a file without members."""
        return self.grammar.header(self.piece(at, MAX_START_BYTES)) or self.grammar.header(self.piece(at, HEAD))

    def after_blank(self, at: int) -> int:
        while True:
            piece = self.piece(at, 256)
            at += blank(piece)
            if blank(piece) < len(piece) or not piece:
                return at

    def is_member(self, at: int) -> bool:
        return STARTS[self.kind].match(self.piece(at, 4)) is not None

    def member(self, at: int) -> ArchiveMember:
        if self.kind == GZIP:
            return GzipMember(self.file, at)
        return CompressedFrame(self.file, at, self.kind, self.dictionary[1] if self.dictionary else None)

    def next_start(self, at: int, end: int | None = None) -> int | None:
        """Return the offset of the first record, or of a member that starts with one, from `at` up to `end`.

        The record may belong to another archive that is the content of a record in this one.
        """
        end = self.size if end is None else min(end, self.size)
        pattern = self.grammar.start if self.kind == PLAIN else STARTS[self.kind]
        while at < end:
            shift = max(at - 1, 0)  # a pattern may look at the byte before a record
            for found in pattern.finditer(self.piece(shift, _BLOCK + MAX_START_BYTES), at - shift):
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
        content = first_gzip_content(self.piece(at, _COMPRESSED_START)) if self.kind == GZIP else self.member(at).read()
        return self.grammar.start.match(content) is not None

    def _kind_of_first(self) -> str:
        """Return the kind of a file with a damaged start, by the first record that is found in it.

        Headers can be legible in compressed data, but the content behind them does not have the length that they give.
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
