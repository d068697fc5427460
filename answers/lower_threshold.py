"""The threshold to offer where nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# Round numbers, of which the highest that finds something is named.
OFFERED = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
LOOKED_AT = 100  # pages, to find out what a lower threshold would give


class LowerThreshold(NamedTuple):
    threshold: float
    pages: int  # that it finds
    at_least: bool  # there may be more than were looked at


def lower_threshold(scores: Sequence[float], total: int) -> LowerThreshold | None:
    """`scores` are the best of so many; None if all of them are next to nothing."""
    for threshold in OFFERED:
        pages = sum(score >= threshold for score in scores)
        if pages:
            return LowerThreshold(threshold, pages, at_least=pages == len(scores) < total)
    return None
