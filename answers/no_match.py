"""Why nothing is similar to a page, and what would find something: never a silent zero."""

from __future__ import annotations

from typing import Any, NamedTuple

from opensearch_winnow.answers.lower_threshold import LOOKED_AT, LowerThreshold, lower_threshold
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches

LOWEST = 0.1  # that is tried with exact scores; below it, whether a passage is shared says more, and takes less time

HALF = 0.5


class NoMatch(NamedTuple):
    """The first of these that is known would find something; if none is, nothing would."""

    unfiltered: int = 0  # pages that match without the filters
    nearest: float | None = None  # the score of the best
    lower: LowerThreshold | None = None  # that finds it
    contained: bool = False  # half of it, or more, is in a page that resembles it less than was asked
    sharing: int = 0  # pages that share a passage


def no_match(index: Index, question: dict[str, Any], matches: Matches) -> NoMatch:
    """`question` is what `index.similar` was asked, and `matches` the answer without any."""
    if question["where"] != Filters():
        anywhere = index.similar(**question | {"where": Filters(), "limit": 1}).total
        if anywhere:
            return NoMatch(unfiltered=anywhere)
    asked = f"min_{matches.score}"
    minima = {name: None for name in question if name.startswith("min_")}
    alone = all(value is None for name, value in question.items() if name in minima and name != asked)
    if alone and matches.threshold > LOWEST:
        nearest = index.similar(**question | {asked: LOWEST, "limit": LOOKED_AT})
        scores = [getattr(match, matches.score) for match in nearest]
        lower = lower_threshold(scores, nearest.total)
        if lower is not None:
            contained = matches.score == "resemblance" and any(match.containment >= HALF for match in nearest)
            return NoMatch(nearest=scores[0], lower=lower, contained=contained)
    sharing = index.similar(**question | minima | {"min_containment": 0.0, "exact": False, "limit": 1}).total
    return NoMatch(sharing=sharing)
