"""Reads records of web archives again, byte by byte, by the sources of captures."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.written_time import can_be_capture
from opensearch_winnow.ingest.sources import arc, wacz, warc
from opensearch_winnow.ingest.sources.archive import Archive
from opensearch_winnow.ingest.sources.archive_records import is_aligned, records
from opensearch_winnow.ingest.sources.header_fields import Fields
from opensearch_winnow.ingest.sources.members import GZIP
from opensearch_winnow.ingest.sources.split import Damage
from opensearch_winnow.mappings.card import CaptureEntry
from opensearch_winnow.mappings.record import storable

MAX_RECORD_BYTES = 1 << 30
MAX_OPEN_ARCHIVES = 16
NOT_THERE = "the archive is not where it was indexed"
NOT_IN_FOLDERS = "the archive is neither where it was indexed nor in the given folders"


class ArchiveError(WinnowError):
    """A record that cannot be read again. The message is a reason, general and short."""


class ArchivedRecord(NamedTuple):
    """A record as it is in an archive."""

    header: bytes  # of WARC or ARC, with the empty line behind it
    content: bytes
    is_arc: bool
    member: bytes | None  # the gzip member that holds this record and nothing else; None if there is none
    date: datetime | None = None  # as its header gives it, which may be impossible; None if it is not valid


class ArchivedRecords(Closing):
    """Reads records from archives, and keeps a few archives open. Use it as a context manager.

    An archive that is no longer where it was indexed, or has changed, is looked for by name in `folders` and their
    subfolders.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._open: dict[_ArchiveLocation, tuple[Archive, ExitStack]] = {}  # in order of use
        # By file of a source; the location of its last record comes first.
        self._locations: dict[str, list[_ArchiveLocation]] = {}

    def read(self, entry: CaptureEntry) -> ArchivedRecord:
        """Read the record of a capture with a source. Raises ArchiveError if it is not there, or damaged."""
        assert entry.source is not None
        file = entry.source.file
        if file not in self._locations:
            self._locations[file] = list(self._locations_of(Path(file)))
        locations = self._locations[file]
        if not locations:
            raise ArchiveError(NOT_IN_FOLDERS if self._folders else NOT_THERE)
        faults: list[ArchiveError] = []
        for number, location in enumerate(locations):
            try:
                found = _record(self._archive(location), entry)
            except OSError as error:
                faults.append(ArchiveError(f"the archive cannot be read: {error.strerror}"))
            except ArchiveError as error:
                faults.append(error)
            else:
                if found is not None:
                    locations.insert(0, locations.pop(number))
                    return found
        raise faults[0] if faults else ArchiveError("the archive has changed since it was indexed")

    def close(self) -> None:
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _archive(self, location: _ArchiveLocation) -> Archive:
        if location in self._open:
            self._open[location] = self._open.pop(location)
            return self._open[location][0]
        if len(self._open) >= MAX_OPEN_ARCHIVES:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        with ExitStack() as stack:
            try:
                content: IO[bytes] = stack.enter_context(location.path.open("rb"))
                if location.member:
                    zipped = stack.enter_context(zipfile.ZipFile(location.path))
                    member = zipped.getinfo(location.member)
                    content, _ = stack.enter_context(wacz.opened(zipped, member, str(location.path)))
                head = content.read(wacz.HEAD_BYTES)
                archive = Archive(content, arc.ARC if arc.looks_like(head) else warc.WARC)
            except (OSError, KeyError, zipfile.BadZipFile):
                raise ArchiveError("the archive cannot be read") from None
            self._open[location] = archive, stack.pop_all()
        return archive

    def _locations_of(self, file: Path) -> Iterator[_ArchiveLocation]:
        """Yield the locations where an archive may be: first where it was indexed, then those in the folders."""
        parts = file.parts
        for end in range(len(parts), 0, -1):
            path = Path(*parts[:end])
            if path.is_file():
                yield _ArchiveLocation(path, "/".join(parts[end:]))
                break
        for start in range(len(parts) - 1, 0, -1):
            member = "/".join(parts[start + 1 :])
            for path in self._files.get(parts[start], ()):
                if zipfile.is_zipfile(path) if member else path.is_file():
                    yield _ArchiveLocation(path, member)

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        """The files in the folders and their subfolders, by name."""
        found: dict[str, dict[Path, None]] = {}
        for top in self._folders:
            for folder, _, names in os.walk(top):
                for name in names:
                    found.setdefault(name, {})[Path(folder, name)] = None
        return {name: sorted(paths) for name, paths in found.items()}


class _ArchiveLocation(NamedTuple):
    """The location of an archive: a file, or a member of a zip file."""

    path: Path
    member: str  # its name within the zip file; empty if it is a file of its own


def _record(archive: Archive, entry: CaptureEntry) -> ArchivedRecord | None:
    """Return the record of a capture; None if another one is there. Raises ArchiveError for damage."""
    assert entry.source is not None
    is_arc = archive.grammar is arc.ARC
    for at, found in records(archive, entry.source.offset, MAX_RECORD_BYTES):
        if isinstance(found, Damage) or not _is_of(found.header, entry, is_arc=is_arc):
            continue
        if found.fault or found.length > len(found.content):
            raise ArchiveError(found.fault or "too large")
        packed = archive.kind == GZIP and is_aligned(archive, at)
        member = archive.piece(at, found.taken) if packed else None
        date = _capture(found.header, is_arc=is_arc)[1]
        return ArchivedRecord(found.header, found.content, is_arc, member, date)
    return None


def _capture(header: bytes, *, is_arc: bool) -> tuple[str, datetime | None]:
    return (arc.capture if is_arc else warc.capture)(header)


def _is_of(header: bytes, entry: CaptureEntry, *, is_arc: bool) -> bool:
    """Return whether this is the header of the record that the capture was indexed from."""
    assert entry.source is not None
    url, date = _capture(header, is_arc=is_arc)
    if storable(url) != entry.card.url:
        return False
    # A date that cannot be right is not that of the capture, which has none, or the one that the user gave.
    if entry.card.fetched_at not in (date, None) and date is not None and can_be_capture(date):
        return False
    if is_arc:
        return True
    fields = Fields(header)
    same_digest = entry.payload_digest in (None, storable(fields.get(b"warc-payload-digest")))
    return same_digest and fields.get(b"warc-type").lower() == entry.source.record_type
