"""Tells slow clients from clients that are gone, or keep a server waiting on purpose."""

from __future__ import annotations

CHECK_SECONDS = 10.0  # between two looks at a connection
MIN_BYTES = 10_000  # the least that a client must send or read between them: 1 kB/s


def is_too_slow(moved: int, left: int = MIN_BYTES) -> bool:
    """Return whether a client has moved too few bytes between two looks; `left` is the most it could have moved."""
    return moved < min(MIN_BYTES, left)
