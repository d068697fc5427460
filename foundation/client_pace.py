"""Tells clients that are slow from clients that keep a server waiting on purpose, or are gone."""

from __future__ import annotations

CHECK_SECONDS = 10.0  # between two looks at a connection
MIN_BYTES = 10_000  # that must have been sent or read between them: 1 kB/s


def is_too_slow(moved: int, left: int = MIN_BYTES) -> bool:
    """Return whether a client has moved too few bytes between two looks; `left` is all that it could have moved."""
    return moved < min(MIN_BYTES, left)
