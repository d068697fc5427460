"""The colours of shares in a matrix."""

from __future__ import annotations

COLOUR_STEPS = 10  # of a matrix, not counting the one for nothing in common


def colour_step(share: float) -> int:
    """Return the colour of a share in the matrix. The last one is only for identical pages."""
    return COLOUR_STEPS if share >= 1 else int(share * COLOUR_STEPS)
