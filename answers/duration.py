"""A time that something took, as people read it."""

from __future__ import annotations


def duration(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"
