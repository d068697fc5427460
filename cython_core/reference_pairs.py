"""What token_pairs.pyx, pair_verdicts.pyx and pair_leaders.pyx compute, in plain Python: short, slow, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.reference import minhash_resemblance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Pair = tuple[int, int]  # the numbers of the earlier and of the later page


# --- token_pairs.pyx --------------------------------------------------------------------------------------------------


def token_pairs(pages: Sequence[int], most: int) -> list[Pair]:
    """Of the pages that have a token, each with those before it: with all, or with the first and the last of them."""
    pairs = []
    for place, page in enumerate(pages):
        before = pages[:place]
        if place > most:
            before = [*before[: most // 2], *before[place - (most - most // 2) :]]
        pairs += [(earlier, page) for earlier in before]
    return pairs


def left_out(count: int, most: int) -> int:
    """The pairs of a token on so many pages that are not among these."""
    return sum(max(before - most, 0) for before in range(count))


# --- pair_verdicts.pyx ------------------------------------------------------------------------------------------------


def pair_verdict(
    minhashes: tuple[bytes, bytes], counts: Pair, threshold: float, bits: int, clear: float
) -> tuple[float, float, str]:
    """The resemblance of two pages, its error, and whether these decide."""
    value, error = minhash_resemblance(*minhashes, bits)
    most = min(counts) / max(*counts, 1)
    reach = clear * error * (2 if min(counts) < 20 else 1)
    verdict = "uncertain"
    if most < threshold or value + reach < threshold:
        verdict = "different"
    elif value - reach >= threshold:
        verdict = "alike"
    return min(max(value, 0.0), most), error, verdict


# --- pair_leaders.pyx -------------------------------------------------------------------------------------------------


def pair_leaders(n: int, pairs: Iterable[Pair]) -> list[int]:
    """For each page the first leader that it resembles, or itself: then it leads."""
    alike = set(pairs)
    joined: list[int] = []
    for page in range(n):
        leaders = (leader for leader in range(page) if joined[leader] == leader and (leader, page) in alike)
        joined.append(next(leaders, page))
    return joined
