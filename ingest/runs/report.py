"""The counts of a run: every page has one of four outcomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from opensearch_winnow.mappings.finding import Finding

MAX_LISTED_FINDINGS = 1_000  # that a report lists one by one; the log of the store has more


class Damaged(NamedTuple):
    """A range of a source that could not be read."""

    source: str
    offset: int
    skipped: int  # bytes
    reason: str


@dataclass(slots=True)
class Report:
    """The counts of a run, so far or at its end."""

    indexed: int = 0
    replaced: int = 0  # indexed captures that were stored with other content before
    replaced_undated: int = 0  # of these, captures of unknown time: perhaps of another crawl
    unchanged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    failed: Counter[str] = field(default_factory=Counter)
    files: int = 0  # pages that are files of a folder or zip file
    skipped_files: Counter[str] = field(default_factory=Counter)  # of these, by reason
    preset: str = ""  # of a new store, if it was chosen by the files
    duplicates: Counter[str] = field(default_factory=Counter)  # indexed pages that equal an earlier one, by kind
    damaged: list[Damaged] = field(default_factory=list)  # the first 1,000 ranges
    damaged_ranges: int = 0
    damaged_bytes: int = 0
    source_bytes: int = 0  # bytes on disk of what was read
    total_bytes: int | None = None  # bytes on disk of all sources; None if there are too many files to add up
    content_bytes: int = 0  # bytes of the pages that were read
    wrong_dates: int = 0  # pages with a date that cannot be right: stored without one, or with that of the run
    wrong_date: str = ""  # one of these dates
    unfilled_revisits: int = 0  # indexed revisits without a text, because the page that they repeat is not stored
    seconds: float = 0.0
    stopped: bool = False  # whether the run was stopped before the end of the sources
    example_url: str | None = None  # a page that is stored, when the run has ended
    findings: list[Finding] = field(default_factory=list)  # new pages that match a watch: the first 1,000
    finding_count: int = 0  # all of them
    finding_watches: int = 0  # watches that have findings
    unanswered_watches: dict[str, str] = field(default_factory=dict)  # by name: why a watch could not be checked
    incompletely_watched: int = 0  # pages that share text with more watches than were compared

    @property
    def pages(self) -> int:
        """The number of pages that were read: the sum of the four outcomes."""
        return self.indexed + self.unchanged + self.skipped.total() + self.failed.total()
