"""Shares as people read them."""

from __future__ import annotations

from typing import Literal


def percent(share: float) -> str:
    """Whole per cents; 0 and 100 only where nothing is rounded."""
    return _rounded(share, "under ", "over ")


def compact_percent(share: float) -> str:
    """The same, in the column of a table."""
    return _rounded(share, "<", ">")


def scored_percent(share: float, kind: Literal["exact", "estimate"], error: float) -> str:
    """A score in the column of a table: an estimate says so, and how large its standard error is."""
    if kind == "exact":
        return compact_percent(share)
    decimals = 1 if 0 < error < 0.0095 else 0  # 0.9 and 1, not 1.0
    return f"≈ {100 * share:.0f} ± {100 * error:.{decimals}f} %"


def _rounded(share: float, below: str, above: str) -> str:
    if 0 < share < 0.01:
        return f"{below}1 %"
    if 0.99 < share < 1:
        return f"{above}99 %"
    return f"{share:.0%}".replace("%", " %")
