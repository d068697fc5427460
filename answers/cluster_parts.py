"""The parts of a cluster that alike pages join, and the pages that hold them together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class ClusterParts(NamedTuple):
    """How the pages of a cluster hang together. Parts are given by their numbers of pages, the largest first."""

    parts: list[int]
    joined_by: list[tuple[int, list[int]]]  # the place of a page, and the parts without it: those with most parts first


def cluster_parts(matrix: Sequence[Sequence[float]], threshold: float) -> ClusterParts:
    """Find the parts into which pairs at or above `threshold` join pages.

    `matrix` has a row for each page: its resemblance to each page before it.
    """
    neighbours: list[set[int]] = [set() for _ in matrix]
    for page, shares in enumerate(matrix):
        for before, share in enumerate(shares):
            if share >= threshold:
                neighbours[page].add(before)
                neighbours[before].add(page)
    pages = set(range(len(matrix)))
    parts = _parts(neighbours, pages)
    without = [(page, _parts(neighbours, pages - {page})) for page in sorted(pages)]
    joined_by = [(page, left) for page, left in without if len(left) > len(parts)]
    return ClusterParts(parts, sorted(joined_by, key=lambda each: -len(each[1])))


def _parts(neighbours: Sequence[Collection[int]], pages: Collection[int]) -> list[int]:
    """Return the sizes of the connected parts of these pages."""
    unseen, sizes = set(pages), []
    while unseen:
        before = len(unseen)
        reached = {unseen.pop()}
        while reached:
            reached = {near for page in reached for near in neighbours[page]} & unseen
            unseen -= reached
        sizes.append(before - len(unseen))
    return sorted(sizes, reverse=True)
