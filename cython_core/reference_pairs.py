"""Computes in plain Python what token_pairs.pyx, pair_verdicts.pyx and pair_representatives.pyx do: short and slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.reference import minhash_resemblance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Pair = tuple[int, int]  # page numbers, the earlier first


# --- token_pairs.pyx --------------------------------------------------------------------------------------------------


def token_pairs(pages: Sequence[int], max_partners: int) -> list[Pair]:
    """Pair each page that has a token with those before it: all, or the first and the last of them."""
    pairs = []
    for i, page in enumerate(pages):
        before = pages[:i]
        if i > max_partners:
            before = [*before[: max_partners // 2], *before[i - (max_partners - max_partners // 2) :]]
        pairs += [(earlier, page) for earlier in before]
    return pairs


def skipped_pairs(count: int, max_partners: int) -> int:
    """Return how many pairs token_pairs() leaves out for a token on `count` pages."""
    return sum(max(before - max_partners, 0) for before in range(count))


# --- pair_verdicts.pyx ------------------------------------------------------------------------------------------------


def pair_verdict(
    minhashes: tuple[bytes, bytes], counts: Pair, threshold: float, bits: int, clear: float
) -> tuple[float, float, str]:
    """Return the estimated resemblance of two pages, its standard error, and the verdict."""
    value, error = minhash_resemblance(*minhashes, bits)
    highest = min(counts) / max(*counts, 1)
    reach = clear * error * (2 if min(counts) < 20 else 1)
    verdict = "uncertain"
    if highest < threshold or value + reach < threshold:
        verdict = "different"
    elif value - reach >= threshold:
        verdict = "alike"
    return min(max(value, 0.0), highest), error, verdict


# --- pair_representatives.pyx -----------------------------------------------------------------------------------------


def pair_representatives(n: int, pairs: Iterable[Pair]) -> list[int]:
    """Return for each page the first representative that it resembles, or the page itself if it is a representative."""
    alike = set(pairs)
    joined: list[int] = []
    for page in range(n):
        resembled = (each for each in range(page) if joined[each] == each and (each, page) in alike)
        joined.append(next(resembled, page))
    return joined
