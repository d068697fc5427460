"""Tells how far a long run is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]  # takes the phase, the amount done, and the total if it is known


def no_progress(phase: str, done: int, total: int | None) -> None:
    """Show nothing."""
