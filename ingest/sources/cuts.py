"""Cuts a web archive into parts where records start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opensearch_winnow.ingest.sources.archive import Archive
from opensearch_winnow.ingest.sources.archive_records import is_aligned
from opensearch_winnow.ingest.sources.members import PLAIN
from opensearch_winnow.ingest.sources.split import Split


def cut(archive: Archive, whole: Split, size: int) -> Iterator[Split]:
    """Yield `whole` in parts of about `size` bytes. Reading a part shows whether the next starts where it should."""
    start = 0
    for end in _in_file(archive, size) if archive.kind == PLAIN else _between_members(archive, size):
        yield replace(whole, start=start, end=end, size=end - start)
        start = end
    yield replace(whole, start=start, size=archive.size - start)


def _between_members(archive: Archive, size: int) -> Iterator[int]:
    """Yield starts of members. If one belongs to an archive inside this one, reading the part before it shows that."""
    at = archive.next_start(size) if is_aligned(archive, 0) else None
    while at is not None:
        yield at
        at = archive.next_start(at + size)


def _in_file(archive: Archive, size: int) -> Iterator[int]:
    """Yield starts of records, found by going from one to the next. Nothing is cut after damage.

    A search for the next start could find a record of an archive inside this one.
    """
    last, at = 0, archive.after_blank(0)
    while at < archive.size:
        header = archive.header(at)
        if header is None or header[1] is None:
            return
        if at - last >= size:
            yield at
            last = at
        at = archive.after_blank(at + header[0] + header[1])
