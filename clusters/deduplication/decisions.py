"""The result of a deduplication: whether each row is kept, dropped for another, or failed."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

Outcome = Literal["kept", "identical", "exact", "near", "contained", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
KEPT, IDENTICAL, EXACT, NEAR, CONTAINED, FAILED = range(len(OUTCOMES))
DROPPED = (IDENTICAL, EXACT, NEAR, CONTAINED)


class OtherSymbols(NamedTuple):
    """A row that is dropped because another has the same words, although operators or signs differ."""

    row: int
    text: str  # the words around the first difference; empty if the rows were not kept
    representative: int
    representative_text: str


class RowCluster(NamedTuple):
    """A row that is kept, or is in the earlier set, with the rows that are dropped for it."""

    rows: int  # with itself
    id: str  # of the row that stands for the others


@dataclass(slots=True, repr=False)
class Deduplication:
    """The result of a deduplication: what becomes of each row, by its number from 0.

    `representatives` has the number of the kept row for which a row is dropped, or its own. The rows of an earlier set
    are numbered from -1 downwards: row 0 of that set is -1. `similarities` has the resemblance to that row or, if rows
    are matched by containment, how much of the row is in that one.
    """

    outcomes: bytearray = field(default_factory=bytearray)  # indices in OUTCOMES
    representatives: array[int] = field(default_factory=lambda: array("q"))
    similarities: array[float] = field(default_factory=lambda: array("d"))
    ids: dict[int, str] = field(default_factory=dict)  # of all representatives of other rows
    failures: Counter[str] = field(default_factory=Counter)  # reasons of failed rows
    largest: list[RowCluster] = field(default_factory=list)  # the ten largest, largest first
    other_texts: list[str] = field(default_factory=list)  # files that were not read, beside files of rows
    wrong_dates: int = 0  # rows with a date that cannot be read, or cannot be right: they count as rows without one
    against_rows: int = 0  # in the earlier set
    against_failed: int = 0
    other_symbols: int = 0  # rows dropped for their words, though operators or signs differ from those of the row kept
    other_symbols_example: OtherSymbols | None = None
    not_compared: int = 0  # kept rows that were not compared with every row that may contain them: too many may
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<Deduplication: {self.rows} rows, {self.kept} kept, {self.dropped} dropped, {self.failed} failed>"

    def add(self, outcome: int) -> None:
        """Add the next row, which so far stands for itself."""
        self.representatives.append(len(self.outcomes))
        self.similarities.append(1.0)
        self.outcomes.append(outcome)

    def add_other_symbols(self, row: int, representative: int) -> None:
        """Count a row that is dropped for its words though its symbols differ. The first such row is the example."""
        self.other_symbols += 1
        if self.other_symbols_example is None or row < self.other_symbols_example.row:
            self.other_symbols_example = OtherSymbols(row, "", representative, "")

    @property
    def rows(self) -> int:
        """The number of rows: those kept, dropped and failed."""
        return len(self.outcomes)

    @property
    def kept(self) -> int:
        """The number of rows that are kept."""
        return self.outcomes.count(KEPT)

    @property
    def failed(self) -> int:
        """The number of rows that could not be read."""
        return self.outcomes.count(FAILED)

    @property
    def dropped(self) -> int:
        """The number of rows that are dropped for another."""
        return self.rows - self.kept - self.failed

    @property
    def dropped_for_earlier_set(self) -> int:
        """The number of rows that are dropped because the earlier set has them."""
        return sum(number < 0 for number in self.representatives)

    def outcome(self, number: int) -> Outcome:
        """Return what became of a row: "kept", "failed", or why it is dropped, such as "near"."""
        return OUTCOMES[self.outcomes[number]]

    def is_kept(self, number: int) -> bool:
        """Return whether a row is kept."""
        return self.outcomes[number] == KEPT

    def kept_numbers(self) -> list[int]:
        """Return the numbers of the rows that are kept."""
        return [number for number, outcome in enumerate(self.outcomes) if outcome == KEPT]

    def marks(self, number: int) -> dict[str, Any]:
        """Return the columns that mark a row: its cluster, whether to keep it, and its representative if it is not."""
        representative = self.representatives[number]
        return {
            "cluster": representative,
            "keep": self.is_kept(number),
            "representative": None if representative == number else self.ids[representative],
            "similarity": round(self.similarities[number], 4),
        }

    def as_document(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        example = self.other_symbols_example
        return {
            "rows": self.rows,
            "kept": self.kept,
            "dropped": self.dropped,
            "failed": self.failed,
            **{OUTCOMES[outcome]: self.outcomes.count(outcome) for outcome in DROPPED},
            "wrong_dates": self.wrong_dates,
            "against": self.dropped_for_earlier_set,
            "against_rows": self.against_rows,
            "against_failed": self.against_failed,
            "other_symbols": self.other_symbols,
            "other_symbols_example": example and example._asdict(),
            "not_compared": self.not_compared,
            "failures": dict(self.failures.most_common()),
            "largest_clusters": [each._asdict() for each in self.largest],
            "seconds": self.seconds,
        }
