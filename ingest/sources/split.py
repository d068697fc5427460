"""A part of a source that one worker reads, and the items that it finds there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames

FILE_FORMATS = ("files", "zip_file")  # whose pages are files, at their own paths
TOO_MUCH_MEMORY = "takes more memory than a worker may use"  # a reason


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a source, small enough to be read again from its start when a worker dies in it."""

    format: str  # names the module of this package that reads it
    path: str
    start: int = 0  # where its first item may start: a byte of the file, a row, or an index into `names`
    end: int | None = None  # items that start here or later belong to the next split; None: read to the end
    size: int = 0  # bytes, to show progress
    names: tuple[str, ...] = ()  # files of a folder, or members of a zip file
    base: str = ""  # the URL that names of files are appended to
    every_text: bool = False  # every text file is a page, including source code and data
    skipped: str = ""  # the reason, if these files are not read: links in a folder
    failed: str = ""  # the reason, if this file could not be divided into splits
    fields: FieldNames = USUAL  # of its rows, if it has rows

    @property
    def archive(self) -> str:
        """The path of a web archive, as sources of captures name it; empty if it was piped in."""
        return "" if self.base else "/".join((self.path, *self.names))

    def bytes_before(self, offset: int) -> int:
        """Estimate the bytes of the split before `offset`, which may count rows or files instead of bytes."""
        length = (self.end or self.start + self.size) - self.start
        return int(self.size * min(max(offset - self.start, 0) / max(length, 1), 1.0))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, as it is found: a page, or a file of many pages or rows."""

    path: str
    format: str
    source: int = 0  # the number of the source among those named, from 0
    name: str = ""  # its path below the folder that all sources have in common
    every_text: bool = False  # it is a page if it is any text, as is a file that was named itself
    url: str = ""  # of a pipe, whose content was saved at `path`
    skipped: str = ""  # the reason, if it is not read: a link in a folder
    failed: str = ""  # the reason, if its format cannot be found out


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page that is not indexed. Pages are counted by reason, so a reason is general: "status 404"."""

    url: str
    reason: str
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A page that should be indexed, but cannot be read."""

    page: Page
    reason: str
    rest: Iterable[bytes] = field(default=(), compare=False)  # of its HTML, to be read before the next page


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a source that no page could be read from. It is not counted as a page."""

    skipped: int
    reason: str
    offset: int = 0  # filled in by the worker
    rows: int = field(default=0, compare=False)  # that are lost, if their number is known


Item = Page | Skipped | Failed | Damage


Items = Iterator[tuple[int, Item | None]]
"""Yields each item with its offset, then None with the offset where reading stopped: normally `end` of the split."""
