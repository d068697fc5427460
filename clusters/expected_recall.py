"""How many of the pairs at or above a threshold are found by their bands, as far as the found ones tell."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.foundation.scheme import Scheme


def band_recall(resemblance: float, scheme: Scheme) -> float:
    """The chance that two pages of this resemblance have a band in common: 1 - (1 - rʳᵒʷˢ)ᵇᵃⁿᵈˢ."""
    return float(1 - (1 - resemblance**scheme.rows) ** scheme.bands)


def expected_recall(histogram: Sequence[int], threshold: float, scheme: Scheme) -> float:
    """Each pair that was found stands for as many as its chance was small: 1 of a chance of a half for two."""
    width = 1 / len(histogram)
    found = there = 0.0
    for bar, pairs in enumerate(histogram):
        middle = (bar + 0.5) * width
        if pairs and (bar + 1) * width > threshold:
            found += pairs
            there += pairs / band_recall(max(middle, threshold), scheme)
    return found / there if there else 1.0
