"""Fits a power law to fingerprint frequencies: most fingerprints are on one page, a few on very many."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from opensearch_winnow.foundation.answers import Answer, answer, key

# p(x) = x**-exponent / zeta(exponent), where x is a number of pages; zeta diverges for exponents up to 1.
MIN_EXPONENT, MAX_EXPONENT = 1.000_1, 60.0
INVERSE_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


@answer
class PowerLaw(Answer):
    """The number of fingerprints as a function of the number of pages they are on.

    `exponent` is the maximum-likelihood estimate for a discrete power law (Clauset, Shalizi, Newman 2009); a line
    fitted to a log-log plot would weigh the few frequent fingerprints as much as the many rare ones. `distance` is the
    Kolmogorov-Smirnov distance between the law and the data: a few hundredths are a good fit. `rank_slope` is what the
    winnowing paper plots, the log-log slope of frequency over rank, by least squares through both ends of each plateau;
    the paper found -0.7 for 20,000 Web pages.
    """

    exponent: float = key("The maximum likelihood estimate of the exponent.")
    error: float = key("The standard error of the exponent, if the law holds.")
    distance: float = key("The Kolmogorov-Smirnov distance between the law and the data.")
    rank_slope: float | None = key(
        "The slope of frequency over rank; null if all fingerprints are on equally many pages."
    )


def power_law(counts: Mapping[int, int]) -> PowerLaw | None:
    """Fit a power law to `counts`, which maps a number of pages to the number of tokens on that many pages.

    Return None if no token is on more than one page.
    """
    counts = {pages: tokens for pages, tokens in sorted(counts.items()) if tokens}
    if not counts or max(counts) == 1:
        return None
    total = sum(counts.values())
    mean_log = sum(tokens * math.log(pages) for pages, tokens in counts.items()) / total
    exponent = _maximum(lambda exponent: -math.log(zeta(exponent)) - exponent * mean_log)
    return PowerLaw(exponent, _error(exponent, total), _distance(counts, total, exponent), _rank_slope(counts))


def zeta(exponent: float) -> float:
    """Return the Riemann zeta function: the sum of n**-exponent, by Euler-Maclaurin after the first terms."""
    rest = 20
    head = math.fsum(math.pow(n, -exponent) for n in range(1, rest))
    power = math.pow(rest, -exponent)
    return (
        head
        + rest * power / (exponent - 1)
        + power / 2
        + exponent * power / (12 * rest)
        - exponent * (exponent + 1) * (exponent + 2) * power / (720 * rest**3)
    )


def _maximum(likelihood: Callable[[float], float]) -> float:
    """Return the position of the maximum of a unimodal function, by golden-section search."""
    low, high = MIN_EXPONENT, MAX_EXPONENT
    while high - low > 1e-7:
        left, right = high - INVERSE_GOLDEN_RATIO * (high - low), low + INVERSE_GOLDEN_RATIO * (high - low)
        if likelihood(left) < likelihood(right):
            low = left
        else:
            high = right
    return (low + high) / 2


def _error(exponent: float, total: int) -> float:
    step = min(1e-4, (exponent - 1) / 4)
    curvature = (
        math.log(zeta(exponent - step)) - 2 * math.log(zeta(exponent)) + math.log(zeta(exponent + step))
    ) / step**2
    return 1 / math.sqrt(total * curvature) if curvature > 0 else math.inf


def _distance(counts: Mapping[int, int], total: int, exponent: float) -> float:
    normal = zeta(exponent)
    law = seen = largest = 0.0
    before = 0
    for pages, tokens in counts.items():
        law += math.fsum(n**-exponent for n in range(before + 1, pages)) / normal
        largest = max(largest, abs(law - seen))  # just below the step
        law += pages**-exponent / normal
        seen += tokens / total
        largest = max(largest, abs(law - seen))
        before = pages
    return largest


def _rank_slope(counts: Mapping[int, int]) -> float | None:
    points = []
    rank = 1
    for pages, tokens in sorted(counts.items(), reverse=True):
        height = math.log(pages)
        points += [(math.log(rank), height), (math.log(rank + tokens - 1), height)]
        rank += tokens
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if len(counts) == 1 or not spread:
        return None
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
