"""Shares as people read them."""

from __future__ import annotations


def percent(share: float) -> str:
    """Whole per cents; 0 and 100 only where nothing is rounded."""
    return _rounded(share, "under ", "over ")


def compact_percent(share: float) -> str:
    """The same, in the column of a table."""
    return _rounded(share, "<", ">")


def _rounded(share: float, below: str, above: str) -> str:
    if 0 < share < 0.01:
        return f"{below}1 %"
    if 0.99 < share < 1:
        return f"{above}99 %"
    return f"{share:.0%}".replace("%", " %")
