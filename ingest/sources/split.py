"""A part of a source that one worker reads, and what it finds there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from opensearch_winnow.ingest.page import Page


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a source, small enough to be read again from its start when a worker dies in it."""

    format: str  # names the module of this package that reads it
    path: str
    start: int = 0  # where its first item may start: bytes of the file, or rows, or places in `names`
    end: int | None = None  # items that start there or later belong to the next split; None: up to the end
    size: int = 0  # bytes, to show how far we are
    names: tuple[str, ...] = ()  # files of a folder, members of a zip
    base: str = ""  # URL that names of files are appended to
    every_text: bool = False  # source code and data are pages too, as any file of text is

    def bytes_before(self, offset: int) -> int:
        """Bytes of the split before an offset, as far as can be told: offsets of some sources count rows or files."""
        length = (self.end or self.start + self.size) - self.start
        return int(self.size * min(max(offset - self.start, 0) / max(length, 1), 1.0))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page that is none of our business. Reasons are counted, so they say what, not which: "status 404"."""

    url: str
    reason: str
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A page that should have been indexed, and could not."""

    page: Page
    reason: str


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a source that no page could be read from. Not a page."""

    skipped: int
    reason: str
    offset: int = 0  # filled in from what it is read with


Item = Page | Skipped | Failed | Damage
Items = Iterator[tuple[int, Item | None]]
"""Each item with where it starts, then None with where reading stopped: for all but the last split, at its `end`."""
