"""Reads the records of a damaged web archive one by one: the readable part of each, and the start of the next.

FastWARC is faster, and correct as long as one record follows another. But it does not report where a member ends, or
that it was cut off; it takes the last readable byte for the end of the file, and stops at the first fault. So the last
record that it returns before a fault is read again here.

WARC and ARC are alike: a header with a length, content of this length, empty lines, the next header.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from opensearch_winnow.ingest.sources.archive import MAX_START_BYTES, Archive, blank
from opensearch_winnow.ingest.sources.header_fields import HEAD
from opensearch_winnow.ingest.sources.members import CUT_OFF, PLAIN
from opensearch_winnow.ingest.sources.split import Damage

WRONG_LENGTH = "wrong length in the archive"
NOT_A_RECORD = "not a record"

_TO_END_OF_MEMBER = 1 << 62  # more bytes than any member has


@dataclass(slots=True)
class ArchiveRecord:
    """A record as it was read from an archive, with at most the requested bytes of its content."""

    header: bytes
    content: bytes
    length: int  # bytes of the content, as the header says
    taken: int  # bytes of the file that the record takes
    fault: str | None = None  # why the content is incomplete or wrong


Records = Generator[tuple[int, ArchiveRecord | Damage], None, int]
"""Yields records, and damage, with their offsets; returns the offset where reading continues."""


def records(archive: Archive, at: int, max_bytes: int) -> Records:
    """Yield the records of the member that starts at `at`, or the record at `at` of a file without members.

    At most `max_bytes` of the content of a record are kept.
    """
    return _in_file(archive, at, max_bytes) if archive.kind == PLAIN else _in_member(archive, at, max_bytes)


def is_aligned(archive: Archive, at: int) -> bool:
    """Return whether the member at `at` has exactly one record, as members of web archives should."""
    if archive.kind == PLAIN or not archive.is_member(at):
        return True
    content = _MemberContent(archive, at)
    header = content.header()
    if header is None:
        return True
    _, short = content.take(header[0] + (header[1] or 0), keep=0)
    alone = not content.skip_blank() and content.start == at
    return alone and (not short or content.member.fault is not None)


def _in_file(archive: Archive, at: int, max_bytes: int) -> Records:
    at = archive.after_blank(at)
    if at >= archive.size:
        return archive.size
    header = archive.header(at)
    if header is None:
        resume = archive.next_start(at + 1) or archive.size
        yield at, Damage(resume - at, NOT_A_RECORD)
        return resume
    content, length = at + header[0], header[1]
    end = archive.size + 1 if length is None else content + length
    resume = archive.after_blank(min(end, archive.size))
    fault = None
    if end > archive.size or (resume < archive.size and archive.header(resume) is None):
        # Its length is wrong, or it was cut off, or what follows is damaged. If a record starts within it, its length
        # is wrong.
        resume = min(end, archive.size)
        within = archive.next_start(content, end)
        if within is not None or length is None:
            end = resume = within or archive.size
            length, fault = end - content, WRONG_LENGTH
        elif end > archive.size:
            end, fault = archive.size, CUT_OFF
    kept = archive.piece(content, min(end - content, max_bytes))
    yield at, ArchiveRecord(archive.piece(at, header[0]), kept, length or 0, end - at, fault)
    return resume


def _in_member(archive: Archive, at: int, max_bytes: int) -> Records:
    if not archive.is_member(at):
        resume = archive.next_start(at + 1) or archive.size
        yield at, Damage(resume - at, NOT_A_RECORD)
        return resume
    content = _MemberContent(archive, at)
    last: tuple[int, ArchiveRecord] | None = None  # held back, because a fault that shows later can be in it
    lost = 0
    while content.skip_blank():
        start, header = content.start, content.header()
        if header is None:
            lost += content.drop() if content.is_sound() else content.drop_all()
            continue
        if last:
            yield last
            if lost:
                # Counted without compression, but no more than the file has left.
                yield start, Damage(min(lost, archive.size - start), NOT_A_RECORD)
                lost = 0
        last = start, _record(content, header, max_bytes)
    end, fault = content.member.end, content.member.fault
    resume = end if fault is None else archive.next_start(content.start + 1) or archive.size
    if last is None:
        if lost or fault:
            yield at, Damage(resume - at, fault or NOT_A_RECORD)
        return resume
    start, found = last
    found.taken = min(end, resume) - start
    if fault and (lost or found.fault or fault != CUT_OFF):
        found.fault = fault
        lost = 0
    yield last
    if lost:
        yield start, Damage(min(lost, end - start), NOT_A_RECORD)
    if fault and (resume > end or not found.fault):
        yield end, Damage(max(resume - end, 0), fault)  # even if only a checksum is missing
    return resume


def _record(content: _MemberContent, header: tuple[int, int | None], max_bytes: int) -> ArchiveRecord:
    head, _ = content.take(header[0], keep=HEAD)
    kept, short = content.take(_TO_END_OF_MEMBER if header[1] is None else header[1], keep=max_bytes)
    wrong = header[1] is None or short
    if wrong or (content.skip_blank() and content.header() is None):
        # As in `_in_file`: its length is wrong, or what follows is damaged, or it was cut off.
        before = content.give_back(kept) if len(kept) < max_bytes and content.is_sound() else kept
        wrong = wrong or len(before) < len(kept)
        kept = before
    length = len(kept) if header[1] is None else header[1]
    return ArchiveRecord(head, kept, length, 0, WRONG_LENGTH if wrong else None)


class _MemberContent:
    """The content of a member, and of the next members as long as a record continues in them."""

    def __init__(self, archive: Archive, at: int) -> None:
        self._archive, self._grammar = archive, archive.grammar
        self.start = at  # where the member of the first byte of data starts
        self.member = archive.member(at)
        self._data = bytearray()
        self._sound = (-1, False)  # the member that was checked last, and the result

    def skip_blank(self) -> bool:
        """Skip empty lines, and return whether anything else is left in the member."""
        while True:
            del self._data[: blank(self._data)]
            if self._data:
                return True
            if not self._more():
                return False

    def header(self) -> tuple[int, int | None] | None:
        """Return the lengths of the next header and of its content."""
        while True:
            header = self._grammar.header(bytes(self._data[:HEAD]))
            if header or len(self._data) >= HEAD:
                return header
            if len(self._data) >= MAX_START_BYTES and not self._grammar.start.match(self._data):
                return None
            if not self._more() and not self._next_member():
                return None

    def take(self, size: int, keep: int) -> tuple[bytes, bool]:
        """Take the next `size` bytes; return the first `keep` of them, and whether there were fewer."""
        kept = bytearray()
        while True:
            piece = self._data[:size]
            kept += piece[: max(keep - len(kept), 0)]
            del self._data[: len(piece)]
            size -= len(piece)
            if not size:
                return bytes(kept), False
            if not self._more() and not self._next_member():
                return bytes(kept), True

    def give_back(self, taken: bytes) -> bytes:
        """Return what comes before the first record within `taken`, and put the rest back."""
        for found in self._grammar.start.finditer(taken):
            if self._grammar.header(taken[found.start() : found.start() + HEAD]):
                self._data[:0] = taken[found.start() :]
                return taken[: found.start()]
        return taken

    def is_sound(self) -> bool:
        """Return whether the member can be read to its end. Behind a fault, anything can look like a record."""
        if self._sound[0] != self.start:
            member = self._archive.member(self.start)
            while member.read():
                pass
            self._sound = self.start, member.fault is None
        return self._sound[1]

    def drop_all(self) -> int:
        """Drop the rest of the member, and return how many bytes that was."""
        dropped = len(self._data)
        while True:
            self._data.clear()
            if not self._more():
                return dropped
            dropped += len(self._data)

    def drop(self) -> int:
        """Drop everything before the next start of a record in this member, and return how many bytes that was."""
        dropped = 0
        while True:
            found = self._grammar.start.search(self._data, 1)  # not the first byte, where none starts
            skipped = found.start() if found else max(len(self._data) - MAX_START_BYTES, 0)
            del self._data[:skipped]
            dropped += skipped
            if found:
                return dropped
            if not self._more():
                return dropped + self.drop_all()

    def _more(self) -> bool:
        piece = self.member.read()
        self._data += piece
        return bool(piece)

    def _next_member(self) -> bool:
        """Go on to the next member if the record continues in it."""
        at = self.member.end
        if self.member.fault or at >= self._archive.size or not self._archive.is_member(at):
            return False
        member = self._archive.member(at)
        piece = member.read()
        if not piece or self._grammar.start.match(piece):
            return False
        self.start, self.member = at, member
        self._data += piece
        return True
