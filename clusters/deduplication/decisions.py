"""The result of a deduplication: whether each row is kept, dropped for another, or failed."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import MutableSequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, get_args

from opensearch_winnow.foundation.answers import Answer, answer, derived, key

Outcome = Literal["kept", "identical", "exact", "near", "contained", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
KEPT, IDENTICAL, EXACT, NEAR, CONTAINED, FAILED = range(len(OUTCOMES))


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


@answer(frozen=False)
class Deduplication(Answer):
    """The result of a deduplication: the outcome of each row, by its number from 0.

    `representatives` has the number of the kept row for which a row is dropped, or its own. The rows of an earlier set
    are numbered from -1 downwards: row 0 of that set is -1. `similarities` has the resemblance to that row or, if rows
    are matched by containment, the share of the row that is in the kept one.
    """

    outcomes: bytearray = field(default_factory=bytearray)  # indices in OUTCOMES
    representatives: MutableSequence[int] = field(default_factory=lambda: array("q"))
    similarities: MutableSequence[float] = field(default_factory=lambda: array("d"))
    ids: dict[int, str] = field(default_factory=dict)  # of all representatives of other rows
    other_texts: list[str] = field(default_factory=list)  # text files not read because their folder has files of rows
    wrong_dates: int = key(
        "The number of rows with an unreadable or impossible date: they count as rows without one.",
        default=0,
    )
    against_rows: int = key("The number of rows of the earlier set.", default=0)
    against_failed: int = key("The number of rows of the earlier set that could not be read.", default=0)
    other_symbols: int = key(
        "The number of rows dropped for their words, though operators or signs differ from those of the row kept.",
        default=0,
    )
    other_symbols_example: OtherSymbols | None = key("The first of these rows.", default=None)
    not_compared: int = key(
        "The number of kept rows not compared with all rows that may contain them, as too many may.", default=0
    )
    failures: Counter[str] = key("The number of failed rows for each reason.", default_factory=Counter)
    largest_clusters: list[RowCluster] = key("The ten largest clusters, the largest first.", default_factory=list)
    seconds: float = key("The time it took.", default=0.0)

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
    @derived(first=True)
    def rows(self) -> int:
        """The number of rows: those kept, dropped and failed."""
        return len(self.outcomes)

    @property
    @derived(first=True)
    def kept(self) -> int:
        """The number of rows that are kept."""
        return self.outcomes.count(KEPT)

    @property
    @derived(first=True)
    def dropped(self) -> int:
        """The number of rows that are dropped for another."""
        return self.rows - self.kept - self.failed

    @property
    @derived(first=True)
    def failed(self) -> int:
        """The number of rows that could not be read."""
        return self.outcomes.count(FAILED)

    @property
    @derived(first=True)
    def identical(self) -> int:
        """The number of rows that are dropped for one with the same text."""
        return self.outcomes.count(IDENTICAL)

    @property
    @derived(first=True)
    def exact(self) -> int:
        """The number of rows that are dropped for one with the same words."""
        return self.outcomes.count(EXACT)

    @property
    @derived(first=True)
    def near(self) -> int:
        """The number of rows that are dropped for one that they resemble."""
        return self.outcomes.count(NEAR)

    @property
    @derived(first=True)
    def contained(self) -> int:
        """The number of rows that are dropped for one that they are in."""
        return self.outcomes.count(CONTAINED)

    @property
    @derived(first=True)
    def against(self) -> int:
        """The number of rows that are dropped because the earlier set has them."""
        return sum(number < 0 for number in self.representatives)

    def outcome(self, number: int) -> Outcome:
        """Return the outcome of a row: "kept", "failed", or the reason why it is dropped, such as "near"."""
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
