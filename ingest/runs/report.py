"""The counts of a run: every page has one of four outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import Literal, NamedTuple

from opensearch_winnow.foundation.answers import Answer, answer, derived, key
from opensearch_winnow.mappings.finding import Finding

MAX_LISTED_FINDINGS = 1_000  # that a report lists one by one; the log of the store has more

Outcome = Literal["indexed", "unchanged", "skipped", "failed"]


class Damaged(NamedTuple):
    """A range of a source that could not be read."""

    source: str
    offset: int
    skipped: int  # bytes
    reason: str


class OutcomeCount(NamedTuple):
    """The number of pages with an outcome, for one reason or without any."""

    outcome: Outcome
    reason: str
    pages: int


@answer(frozen=False)
class Report(Answer):
    """The counts of a run, so far or at its end."""

    indexed: int = key("The number of pages that were indexed: their records are new, or have changed.", default=0)
    replaced: int = key("Of these, captures that were stored with other content before.", default=0)
    replaced_undated: int = 0  # of these, captures of unknown time: perhaps of another crawl
    unchanged: int = key("The number of captures that were stored with the same content before.", default=0)
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    failed: Counter[str] = field(default_factory=Counter)  # by reason
    files: int = 0  # pages that are files of a folder or zip file
    skipped_files: Counter[str] = field(default_factory=Counter)  # of these, by reason
    preset: str = ""  # of a new store, if it was chosen by the files
    duplicates: Counter[str] = key(
        "The numbers of indexed pages that equal an earlier one, by what is equal.", default_factory=Counter
    )
    damaged: list[Damaged] = field(default_factory=list)  # the first 1,000 ranges
    damaged_ranges: int = 0
    damaged_bytes: int = 0
    source_bytes: int = 0  # bytes on disk that were read
    total_bytes: int | None = None  # bytes on disk of all sources; None if there are too many files to add up
    content_bytes: int = 0  # bytes of the pages that were read
    wrong_dates: int = key(
        "The number of pages with a date that cannot be right: stored without one, or with that of the run.", default=0
    )
    wrong_date: str = ""  # one of these dates
    unfilled_revisits: int = key(
        "The number of indexed revisits without a text, because the page that they repeat is not stored.", default=0
    )
    seconds: float = key("The time it took.", default=0.0)
    stopped: bool = key("True if the run was stopped before the end of the sources.", default=False)
    example_url: str | None = None  # a page that is stored, when the run has ended
    findings: list[Finding] = field(default_factory=list)  # new pages that match a watch: the first 1,000
    finding_count: int = key("The number of new pages that match a watch.", name="findings", default=0)
    finding_watches: int = 0  # watches that have findings
    unanswered_watches: dict[str, str] = field(default_factory=dict)  # by name: why a watch could not be checked
    incompletely_watched: int = 0  # pages that share text with more watches than were compared

    @property
    @derived
    def pages(self) -> int:
        """The number of pages that were read: the sum of the four outcomes."""
        return self.indexed + self.unchanged + self.skipped.total() + self.failed.total()

    @property
    @derived(name="skipped")
    def skipped_count(self) -> int:
        """The number of pages that were skipped."""
        return self.skipped.total()

    @property
    @derived(name="failed")
    def failed_count(self) -> int:
        """The number of pages that could not be read."""
        return self.failed.total()

    @property
    @derived
    def reasons(self) -> dict[str, dict[str, int]]:
        """The numbers of pages that were skipped and that failed, by reason."""
        return {"skipped": dict(self.skipped.most_common()), "failed": dict(self.failed.most_common())}

    @property
    @derived(name="damaged")
    def damage(self) -> dict[str, int]:
        """The places of sources that could not be read, and their bytes."""
        return {"places": self.damaged_ranges, "bytes": self.damaged_bytes}

    def outcomes(self) -> Iterator[tuple[Outcome, int, Counter[str]]]:
        """Yield each outcome with its number of pages, and with the reasons of pages that have one."""
        yield "indexed", self.indexed, self.duplicates
        yield "unchanged", self.unchanged, Counter()
        yield "skipped", self.skipped.total(), self.skipped
        yield "failed", self.failed.total(), self.failed

    def rows(self) -> Iterator[OutcomeCount]:
        """Yield the rows of a table: for each outcome the pages without a reason, and those for each reason."""
        for outcome, count, reasons in self.outcomes():
            plain = count - reasons.total()
            if plain or not reasons:
                yield OutcomeCount(outcome, "", plain)
            for reason, number in reasons.most_common():
                same = "same " if outcome == "indexed" and reason != "revisit" else ""
                yield OutcomeCount(outcome, f"{same}{reason}", number)
