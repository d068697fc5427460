"""What is asked of a page to be a match."""

from __future__ import annotations

from dataclasses import dataclass

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.queries.compare import Scores
from opensearch_winnow.queries.estimated import Estimated
from opensearch_winnow.queries.matches import Score


class QuestionError(WinnowError):
    """A question that cannot be answered."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The scores that a match has at least; all must hold. It is ordered by the first of them."""

    minima: dict[Score, float]

    @classmethod
    def of(cls, default: Score, minima: dict[Score, float | None]) -> Asked:
        """The minima that are given; else half of the default one."""
        given: dict[Score, float] = {name: value for name, value in minima.items() if value is not None}
        for name, value in given.items():
            if not 0 <= value <= 1:
                raise QuestionError(f"min_{name} is a share from 0 to 1, not {value:g}")
        return cls(given or {default: 0.5})

    @property
    def score(self) -> Score:
        return next(iter(self.minima))

    @property
    def threshold(self) -> float:
        return self.minima[self.score]

    @property
    def any_passage(self) -> bool:
        """Whatever the scores are, if only a passage is shared."""
        return not any(self.minima.values())

    def holds(self, scores: Scores) -> bool:
        return all(getattr(scores, name) >= minimum for name, minimum in self.minima.items())

    def may_hold(self, found: Estimated, errors: float) -> bool:
        """Whether the true scores can be high enough, if none is so many standard errors above its estimate."""
        return all(
            estimate.value + errors * estimate.error >= minimum
            for estimate, minimum in ((getattr(found, name), minimum) for name, minimum in self.minima.items())
        )

    @property
    def of_question(self) -> float:
        """How much of the question a match has at least: what it resembles, it contains to the same degree."""
        return max(self.minima.get("resemblance", 0.0), self.minima.get("containment", 0.0))
