"""Defines the thresholds of a question: the scores that a match must reach."""

from __future__ import annotations

from dataclasses import dataclass

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.estimates import Estimates
from opensearch_winnow.queries.scores import Score, Scores


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The minimum scores of a match. It must reach all of them; the first is the primary one."""

    minima: dict[Score, float]

    @classmethod
    def of(cls, default: Score, minima: dict[Score, float | None]) -> Thresholds:
        """Return the minima that are not None; if all are None, a minimum of 0.5 for the score `default`."""
        given: dict[Score, float] = {name: value for name, value in minima.items() if value is not None}
        for name, value in given.items():
            if not 0 <= value <= 1:
                raise QuestionError(f"min_{name} is a share from 0 to 1, not {value:g}")
        return cls(given or {default: 0.5})

    @property
    def primary(self) -> Score:
        """The score that matches are ordered by."""
        return next(iter(self.minima))

    @property
    def primary_minimum(self) -> float:
        """The minimum of the primary score."""
        return self.minima[self.primary]

    @property
    def any_passage(self) -> bool:
        """True if all minima are 0, so that one shared passage makes a page a match."""
        return not any(self.minima.values())

    @property
    def min_containment(self) -> float:
        """The smallest share of the question that a match can contain.

        A page that resembles the question by r contains at least r of it.
        """
        return max(self.minima.get("resemblance", 0.0), self.minima.get("containment", 0.0))

    def met_by(self, scores: Scores) -> bool:
        """Return whether the scores reach every minimum."""
        return all(getattr(scores, name) >= minimum for name, minimum in self.minima.items())

    def may_be_met_by(self, estimates: Estimates, errors: float) -> bool:
        """Return whether every minimum is at most `errors` standard errors above its estimate."""
        return all(
            estimate.value + errors * estimate.error >= minimum
            for estimate, minimum in ((getattr(estimates, name), minimum) for name, minimum in self.minima.items())
        )
