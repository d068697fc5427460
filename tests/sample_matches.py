"""Matches for tests of sentences and tables."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.queries.asking.matches import Match, Matches


def sample_matches(*found: Match, **others: Any) -> Matches:
    """Return matches, with some values other than those of a question that found these with a resemblance of 0.5."""
    values: dict[str, Any] = {"total": len(found), "score": "resemblance", "min_score": 0.5, "candidates": 120}
    values |= {"unscored": 0, "uncompared": 0, "tokens": 100, "ignored": 0, "frequent": 1_000, "seconds": 0.012}
    values |= {"below_guarantee": False, "too_short": False, "matches": list(found)}
    return Matches(**values | others)
