"""Reads records of web archives again, byte by byte, by the sources of captures."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.sources import arc, wacz, warc
from opensearch_winnow.ingest.sources.archive import Archive
from opensearch_winnow.ingest.sources.archive_records import is_aligned, records
from opensearch_winnow.ingest.sources.members import GZIP
from opensearch_winnow.ingest.sources.split import Damage
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.mappings.source import Source

MAX_RECORD_BYTES = 1 << 30
MAX_OPEN_ARCHIVES = 16


class ArchiveError(WinnowError):
    """A record that cannot be read again. The message is a reason, general and short."""


class ArchivedRecord(NamedTuple):
    """A record as it is in an archive."""

    header: bytes  # of WARC or ARC, with the empty line behind it
    content: bytes
    is_arc: bool
    member: bytes | None  # the gzip member that holds this record and nothing else; None if there is none


class ArchivedRecords(Closing):
    """Reads records from archives, a few of which stay open. Use it as a context manager.

    An archive that is no longer where it was indexed is looked for by name in `folders`.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._open: dict[str, tuple[Archive, ExitStack]] = {}  # in order of use

    def read(self, source: Source, url: str, fetched_at: datetime | None) -> ArchivedRecord:
        """Read the record of a capture. Raises ArchiveError if it is not there, or damaged."""
        archive = self._archive(source.file)
        is_arc = archive.grammar is arc.ARC
        capture = arc.capture if is_arc else warc.capture
        try:
            for at, found in records(archive, source.offset, MAX_RECORD_BYTES):
                if isinstance(found, Damage):
                    continue
                found_url, found_time = capture(found.header)
                if (storable(found_url), found_time) != (url, fetched_at):
                    continue
                if found.fault or found.length > len(found.content):
                    raise ArchiveError(found.fault or "too large")
                packed = archive.kind == GZIP and is_aligned(archive, at)
                member = archive.piece(at, found.taken) if packed else None
                return ArchivedRecord(found.header, found.content, is_arc, member)
        except OSError as error:
            raise ArchiveError(f"the archive cannot be read: {error.strerror}") from None
        raise ArchiveError("the archive has changed since it was indexed")

    def close(self) -> None:
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _archive(self, file: str) -> Archive:
        if file in self._open:
            self._open[file] = self._open.pop(file)
            return self._open[file][0]
        path, member = self._locate(Path(file))
        if len(self._open) >= MAX_OPEN_ARCHIVES:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        with ExitStack() as stack:
            try:
                content: IO[bytes] = stack.enter_context(path.open("rb"))
                if member:
                    zipped = stack.enter_context(zipfile.ZipFile(path))
                    content, _ = stack.enter_context(wacz.opened(zipped, zipped.getinfo(member), str(path)))
                head = content.read(wacz.HEAD_BYTES)
                archive = Archive(content, arc.ARC if arc.looks_like(head) else warc.WARC)
            except (OSError, KeyError, zipfile.BadZipFile):
                raise ArchiveError("the archive cannot be read") from None
            self._open[file] = archive, stack.pop_all()
        return archive

    def _locate(self, file: Path) -> tuple[Path, str]:
        """Return the path of an archive, or of the zip file that it is in, and its name within that."""
        parts = file.parts
        for end in range(len(parts), 0, -1):
            path = Path(*parts[:end])
            if path.is_file():
                return path, "/".join(parts[end:])
        for folder in self._folders:
            for start in range(len(parts) - 1, 0, -1):
                path = folder / parts[start]
                if path.is_file():
                    return path, "/".join(parts[start + 1 :])
        raise ArchiveError("the archive is not where it was indexed")
