"""Records of a web archive, each looked at closely: what can be read of it, and where the next one starts.

FastWARC is faster, and is believed where one record follows another. But it does not tell where a member ends nor that
one was cut off, takes the end of what it can read for the end of the file, and goes no further after a fault. So the
last record that it gives before anything happens is read again here.

It is the same for WARC and ARC: a header that tells a length, content of this length, empty lines, the next header.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from opensearch_winnow.ingest.sources.archive import LINE, Archive, blank
from opensearch_winnow.ingest.sources.header_fields import HEAD
from opensearch_winnow.ingest.sources.members import CUT_OFF, PLAIN
from opensearch_winnow.ingest.sources.split import Damage

WRONG_LENGTH = "wrong length in the archive"
NOT_A_RECORD = "not a record"

_ALL = 1 << 62  # bytes of content: up to the end of the member


@dataclass(slots=True)
class Found:
    """A record. Of its content there is no more than was asked for."""

    header: bytes
    content: bytes
    length: int  # of the content, as it should be
    taken: int  # bytes of the file
    fault: str | None = None  # why it cannot be relied on


Records = Generator[tuple[int, Found | Damage], None, int]
"""Records with where they start, and damage; returned is where to go on."""


def records(archive: Archive, at: int, most: int) -> Records:
    """The records of the member that starts at `at`, or the one record of a file without members.

    No more than `most` bytes of the content of a record are kept.
    """
    return _in_file(archive, at, most) if archive.kind == PLAIN else _in_member(archive, at, most)


def is_aligned(archive: Archive, at: int) -> bool:
    """Whether the member at `at` has just one record, which is how web archives should be compressed."""
    if archive.kind == PLAIN or not archive.is_member(at):
        return True
    content = _Content(archive, at)
    header = content.header()
    if header is None:
        return True
    _, short = content.take(header[0] + (header[1] or 0), keep=0)
    alone = not content.skip_blank() and content.start == at
    return alone and (not short or content.member.fault is not None)


def _in_file(archive: Archive, at: int, most: int) -> Records:
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
        # Its length is wrong, or it was cut off, or what follows is damaged: a record that starts in it decides.
        resume = min(end, archive.size)
        within = archive.next_start(content, end)
        if within is not None or length is None:
            end = resume = within or archive.size
            length, fault = end - content, WRONG_LENGTH
        elif end > archive.size:
            end, fault = archive.size, CUT_OFF
    kept = archive.piece(content, min(end - content, most))
    yield at, Found(archive.piece(at, header[0]), kept, length or 0, end - at, fault)
    return resume


def _in_member(archive: Archive, at: int, most: int) -> Records:
    if not archive.is_member(at):
        resume = archive.next_start(at + 1) or archive.size
        yield at, Damage(resume - at, NOT_A_RECORD)
        return resume
    content = _Content(archive, at)
    last: tuple[int, Found] | None = None  # which a fault that shows later can be about
    lost = 0
    while content.skip_blank():
        start, header = content.start, content.header()
        if header is None:
            lost += content.drop() if content.is_sound() else content.drop_all()
            continue
        if last:
            yield last
            if lost:
                # As many as they are when they are not compressed, but no more than there can be.
                yield start, Damage(min(lost, archive.size - start), NOT_A_RECORD)
                lost = 0
        last = start, _record(content, header, most)
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
        yield end, Damage(max(resume - end, 0), fault)  # though no more may be missing than a checksum
    return resume


def _record(content: _Content, header: tuple[int, int | None], most: int) -> Found:
    head, _ = content.take(header[0], keep=HEAD)
    kept, short = content.take(_ALL if header[1] is None else header[1], keep=most)
    wrong = header[1] is None or short
    if wrong or (content.skip_blank() and content.header() is None):
        # As in a file: its length is wrong, or what follows is damaged, or it was cut off.
        before = content.give_back(kept) if len(kept) < most and content.is_sound() else kept
        wrong = wrong or len(before) < len(kept)
        kept = before
    length = len(kept) if header[1] is None else header[1]
    return Found(head, kept, length, 0, WRONG_LENGTH if wrong else None)


class _Content:
    """What is in a member, and in those after it as long as a record goes on there."""

    def __init__(self, archive: Archive, at: int) -> None:
        self._archive, self._grammar = archive, archive.grammar
        self.start = at  # of the member that the first byte of data is in
        self.member = archive.member(at)
        self._data = bytearray()
        self._sound = (-1, False)  # the member that was looked at last

    def skip_blank(self) -> bool:
        """Whether there is anything but empty lines in the member."""
        while True:
            del self._data[: blank(self._data)]
            if self._data:
                return True
            if not self._more():
                return False

    def header(self) -> tuple[int, int | None] | None:
        """The lengths of the header that comes next, and of its content."""
        while True:
            header = self._grammar.header(bytes(self._data[:HEAD]))
            if header or len(self._data) >= HEAD:
                return header
            if len(self._data) >= LINE and not self._grammar.start.match(self._data):
                return None
            if not self._more() and not self._next_member():
                return None

    def take(self, size: int, keep: int) -> tuple[bytes, bool]:
        """The first `keep` of the next `size` bytes, and whether there were fewer."""
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
        """What comes before the first record within what was taken; the rest of it comes again."""
        for found in self._grammar.start.finditer(taken):
            if self._grammar.header(taken[found.start() : found.start() + HEAD]):
                self._data[:0] = taken[found.start() :]
                return taken[: found.start()]
        return taken

    def is_sound(self) -> bool:
        """Whether the member can be read to its end. What follows a fault can look as if it were a record."""
        if self._sound[0] != self.start:
            member = self._archive.member(self.start)
            while member.read():
                pass
            self._sound = self.start, member.fault is None
        return self._sound[1]

    def drop_all(self) -> int:
        """Leave out all of the member. How much that was."""
        dropped = len(self._data)
        while True:
            self._data.clear()
            if not self._more():
                return dropped
            dropped += len(self._data)

    def drop(self) -> int:
        """Leave out all before the next start of a record in this member. How much that was."""
        dropped = 0
        while True:
            found = self._grammar.start.search(self._data, 1)  # not the first byte, where none starts
            skipped = found.start() if found else max(len(self._data) - LINE, 0)
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
        """Go on in the next member, if the record does."""
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
