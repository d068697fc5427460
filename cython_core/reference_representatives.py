"""Computes in plain Python what representatives.pyx does: short, slow, and written to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.reference import minhash_resemblance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Joined = tuple[int, float, float]  # the representative, the resemblance to it, and its standard error


def assign_representatives(
    minhashes: Sequence[bytes],
    counts: Sequence[int],
    threshold: float,
    bits: int,
    clear: float,
    exact: Callable[[int, int], float | None],
) -> list[Joined | None]:
    """Return the representative that each page joins, or None if the page is a representative itself.

    `exact` returns the resemblance of a representative and a page, or None if it is unknown. Parameters as for
    RepresentativeAssignment.
    """

    def likeness(representative: int, page: int) -> tuple[float, float]:
        highest = min(counts[representative], counts[page]) / max(counts[representative], counts[page])
        if highest < threshold:
            return highest, 0.0
        margin = clear * (2 if min(counts[representative], counts[page]) < 20 else 1)
        value, error = minhash_resemblance(minhashes[representative][:128], minhashes[page][:128], bits)
        if value + (margin + 1) * error < threshold:
            return value, error
        value, error = minhash_resemblance(minhashes[representative], minhashes[page], bits)
        if value - margin * error < threshold <= value + margin * error:
            resemblance = exact(representative, page)
            if resemblance is not None:
                return resemblance, 0.0
        return min(value, highest), error

    joined: list[Joined | None] = []
    representatives: list[int] = []
    for page, count in enumerate(counts):
        likenesses = ((representative, *likeness(representative, page)) for representative in representatives if count)
        joined.append(next((each for each in likenesses if each[1] >= threshold), None))
        if count and joined[-1] is None:
            representatives.append(page)
    return joined
