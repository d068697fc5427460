"""What leaders.pyx computes, in plain Python: short, slow, and written to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.reference import minhash_resemblance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Joined = tuple[int, float, float]  # whom, the resemblance, and its error


def joins(
    minhashes: Sequence[bytes],
    counts: Sequence[int],
    threshold: float,
    bits: int,
    clear: float,
    exact: Callable[[int, int], float | None],
) -> list[Joined | None]:
    """What each page joins; None: it leads. `exact` is asked for the resemblance of a leader and a page."""

    def likeness(leader: int, page: int) -> tuple[float, float]:
        most = min(counts[leader], counts[page]) / max(counts[leader], counts[page])
        if most < threshold:
            return most, 0.0
        few = 2 if min(counts[leader], counts[page]) < 20 else 1
        value, error = minhash_resemblance(minhashes[leader][:128], minhashes[page][:128], bits)
        if value + (few * clear + 1) * error < threshold:
            return value, error
        value, error = minhash_resemblance(minhashes[leader], minhashes[page], bits)
        if value - few * clear * error < threshold <= value + few * clear * error:
            known = exact(leader, page)
            if known is not None:
                return known, 0.0
        return min(value, most), error

    found: list[Joined | None] = []
    leaders: list[int] = []
    for page, count in enumerate(counts):
        likenesses = ((leader, *likeness(leader, page)) for leader in leaders if count)
        found.append(next((each for each in likenesses if each[1] >= threshold), None))
        if count and found[-1] is None:
            leaders.append(page)
    return found
