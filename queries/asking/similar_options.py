"""Declares the options of a question of similarity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from opensearch_winnow.foundation.option_kinds import FLAG, LAST_OF_DATE, SECONDS, number, share
from opensearch_winnow.foundation.options import Options, group, option
from opensearch_winnow.queries.asking.frequency_check import DEFAULT_FREQUENT
from opensearch_winnow.queries.asking.question import MAX_GUARANTEE
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Score

MAX_MATCHES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarOptions(Options):
    """The options of every question of similarity."""

    min_resemblance: float | None = option(
        None, share(), "Pages whose resemblance to the question is at least X.", unset="0.5 for a URL"
    )
    min_containment: float | None = option(
        None,
        share(),
        "Pages that contain at least X of the question. 0 lists all that share a passage with it.",
        unset="0.5 for a file or a text",
    )
    min_contained: float | None = option(
        None, share(), "Pages with at least X of their own text inside the question.", advanced=True
    )
    exact: bool = option(
        True,
        FLAG,
        "Estimate scores from sketches: fast, with a standard error, without passages.",
        flag="--estimate",
    )
    limit: int | None = option(100, number(1, MAX_MATCHES), "Show the N best matches.")
    max_seconds: float | None = option(
        None, SECONDS, "After S seconds, show what was found until then, and say so.", unset="no limit", advanced=True
    )
    where: Filters = group(Filters)
    all_captures: bool = option(False, FLAG, "Include every capture of a URL, not only one.")
    guarantee: int | None = option(
        None,
        number(1, MAX_GUARANTEE),
        "Guarantee to find only shared runs of N or more canonical characters, with fewer lookups.",
        unset="the store's",
    )
    frequent: int = DEFAULT_FREQUENT
    boilerplate: bool = option(True, FLAG, "Treat boilerplate as ordinary text.", advanced=True)

    @property
    def minima(self) -> dict[Score, float | None]:
        """The minimum of each score; None if it has none."""
        return {
            "resemblance": self.min_resemblance,
            "containment": self.min_containment,
            "contained": self.min_contained,
        }

    def thresholds(self, *, is_stored: bool) -> Thresholds:
        """Return the thresholds for a page of the store, or for a text."""
        return Thresholds.of("resemblance" if is_stored else "containment", self.minima)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarQuestion(SimilarOptions):
    """A question, and the page or text that it is about: one of `url`, `id`, `text` and `html`."""

    url: str | None = None
    id: str | None = None
    text: str | None = None
    html: str | bytes | None = None
    at: datetime | None = option(None, LAST_OF_DATE, "Use the last capture of URL up to the end of DATE.")

    @property
    def is_stored(self) -> bool:
        """True if it is about a page of the store."""
        return self.url is not None or self.id is not None


def with_minima(options: SimilarOptions, minima: Mapping[Score, float | None]) -> SimilarOptions:
    """Return options with some other minima; None takes one away."""
    changes: dict[str, Any] = {f"min_{score}": value for score, value in minima.items()}
    return replace(options, **changes)
