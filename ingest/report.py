"""What became of the pages: every one is counted, and the counts add up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Damaged(NamedTuple):
    """A place in a source that nothing could be read from."""

    source: str
    offset: int
    skipped: int  # bytes
    reason: str


@dataclass(slots=True)
class Report:
    """A run, so far or in the end."""

    indexed: int = 0
    replaced: int = 0  # of those indexed, captures that were there with another content
    unchanged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    failed: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)  # of those indexed, by what they equal an earlier page in
    damaged: list[Damaged] = field(default_factory=list)  # the first of them
    damaged_places: int = 0
    damaged_bytes: int = 0
    source_bytes: int = 0  # bytes of the sources that were read, as they lie on disk
    total_bytes: int | None = None  # bytes of all sources; None if they are too many files to look at
    content_bytes: int = 0  # of pages
    seconds: float = 0.0
    stopped: bool = False  # before the end of the sources
    example_url: str | None = None  # a page that is stored, when the run has ended

    @property
    def pages(self) -> int:
        """All that came in: the sum of the four outcomes."""
        return self.indexed + self.unchanged + self.skipped.total() + self.failed.total()
