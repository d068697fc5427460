"""Bars of block characters, to an eighth of a column."""

from __future__ import annotations

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, columns: int = 10) -> str:
    """So much of the columns, filled up with spaces. Empty and full only where nothing is rounded."""
    most = 8 * columns
    eighths = most if share >= 1 else min(max(round(share * most), share > 0), most - 1)
    full, rest = divmod(eighths, 8)
    return ("█" * full + EIGHTHS[rest]).ljust(columns)[:columns]
