"""The options of a deduplication, which define duplicates and choose the one to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import ClassVar, Literal, NamedTuple, Self, get_args

from opensearch_winnow.clusters.options import DEFAULT_COMPARED, ClusterError
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import one_of, share, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.written_time import microseconds
from opensearch_winnow.ingest.rows import Row
from opensearch_winnow.ingest.sources.row_fields import listed

Match = Literal["identical", "exact", "near", "contained"]
MATCHES: tuple[Match, ...] = get_args(Match)
RULES = ("earliest", "newest", "longest", "source")
BEST, LOWEST = "best", "lowest"  # followed by a colon and the name of a field
DEFAULT_MINIMUM = 0.5  # resemblance or containment
KEEP_CHOICES = f"{', '.join(RULES)}, {BEST}:FIELD or {LOWEST}:FIELD"


class DeduplicationError(ClusterError):
    """Raised when a deduplication cannot be done."""


class KeepRule(NamedTuple):
    """Chooses the row to keep of several duplicates: the earliest or newest, the longest, the one of the first source,
    or the one with the highest or lowest number in a field."""

    name: str
    field: str | None = None

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a rule: `earliest`, `newest`, `longest`, `source`, `best:FIELD` or `lowest:FIELD`."""
        if text in RULES:
            return cls(text)
        name, _, field = text.partition(":")
        if name not in (BEST, LOWEST) or not field:
            raise DeduplicationError(f"the row to keep is chosen by {KEEP_CHOICES}, not {text!r}")
        return cls(name, field)

    def check_fields(self, seen: Sequence[str] | None) -> None:
        """Raise an error if the rule's field is not among the fields `seen`, which are None if unknown."""
        if self.field and seen and self.field not in seen and self.field.partition(".")[0] not in seen:
            raise DeduplicationError(
                f"no row has the field {self.field}, by which the rule {self.name}:{self.field} chooses: the fields "
                f"are {listed(seen)}"
            )

    def without_ranks(self) -> DeduplicationError | None:
        """Return the error to raise if this rule ranks no row; None if it needs no rank."""
        if self.field:
            return DeduplicationError(
                f"no row has a number in the field {self.field}, by which the rule {self.name}:{self.field} chooses"
            )
        undated = DeduplicationError("no row has a date that can be read, so none is the newest")
        return undated if self.name == "newest" else None

    def rank(self, row: Row, text: str) -> float | None:
        """Return the rank of a row in the order of the rule: the lowest is kept, None comes last."""
        if self.name == "longest":
            return -len(text)
        if self.name == "source":
            return row.source
        if self.field is not None:
            number = _number(row.value)
            return number if number is None or self.name == LOWEST else -number
        time = row.page.fetched_at
        if time is None:
            return None
        # As a float: Arrow refuses integers that a float cannot hold exactly, such as the microseconds since 1600.
        return float(microseconds(time) if self.name == "earliest" else -microseconds(time))


def _number(value: object) -> float | None:
    """Return a value as a number, a time as its seconds; None if it is neither."""
    if isinstance(value, datetime):
        return value.timestamp()
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if isnan(number) else number


@dataclass(frozen=True, slots=True, kw_only=True)
class DeduplicationOptions(Options):
    """The options that decide which rows are kept.

    Rows are put in the order of the rule `keep`; of equals, the earliest comes first, and rows without a time in the
    order in which they are read. `identical` drops rows with the text of an earlier one, after Unicode normalisation.
    `exact` drops rows with the canonical text of an earlier one, whatever its symbols. `near` also drops each
    row that resembles an earlier, kept row by `min_resemblance`. `contained` drops each row of which a share of
    `min_containment` or more is in a kept row; of two that contain each other, the earlier is kept.
    """

    error: ClassVar[type[WinnowError]] = DeduplicationError

    match: Match = option(
        "near",
        one_of(*MATCHES),
        "The rows to drop. identical: rows with the same text. exact: also rows with the same words, whatever their"
        " symbols. near: also rows that resemble a kept row. contained: also rows that are in a kept row.",
    )
    min_resemblance: float | None = option(
        None,
        share(above_0=True),
        "With --match near: drop rows whose resemblance to a kept row is at least X.",
        unset=str(DEFAULT_MINIMUM),
    )
    min_containment: float | None = option(
        None,
        share(above_0=True),
        "With --match contained: drop rows of which at least X is in a kept row.",
        unset=str(DEFAULT_MINIMUM),
        advanced=True,
    )
    keep: str = option(
        "earliest",
        text("RULE"),
        f"The row to keep of several: {KEEP_CHOICES}. earliest is by date, and rows without one in their order; source"
        " prefers the sources named first; best takes the highest number in a field.",
        advanced=True,
    )
    compared: int = DEFAULT_COMPARED  # maximum of earlier rows to compare a row with because of one shared shingle

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        KeepRule.of(self.keep)
        for name, match in (("min_resemblance", "near"), ("min_containment", "contained")):
            if getattr(self, name) is not None and self.match != match:
                raise self.error(f"{name} is for match {match}, and match is {self.match}")

    @property
    def min_score(self) -> float:
        """The resemblance or containment from which a row is dropped."""
        return self.min_resemblance or self.min_containment or DEFAULT_MINIMUM

    @property
    def keep_rule(self) -> KeepRule:
        return KeepRule.of(self.keep)
