"""Scores how similar the programs of a set are, where copies are disguised.

A shingle that few programs have says more than one that the whole class has: each weighs its idf. Copies must not make
their own code common, so programs that share half of their shingles count as one. The similarity of two programs is the
weight of what they share, as a share of the mean weight of both. It is computed twice, for shingles in which all names
are one symbol and for shorter ones with real names, and the higher counts: a copy keeps its structure or its names.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import log

from opensearch_winnow.cython_core.shared_tokens import SharedTokens
from opensearch_winnow.queries.sets.prepared_document import PreparedDocument

SAME_PROGRAM = 0.5  # the share of shingles from which two programs count as one in the idf


class ProgramSimilarity:
    """The similarities of prepared programs. They do not depend on the order of the programs."""

    def __init__(self, programs: Sequence[PreparedDocument], *, rows: int | None = None) -> None:
        groups = program_groups(programs, len(programs) if rows is None else rows)
        weights = idf_weights(len(programs), len(set(groups)))
        self._shared = [
            _shared([program.shingles for program in programs], weights, groups),
            _shared([program.named_shingles for program in programs], weights, groups),
        ]
        self._weights = [array("d", map(shared.weight, range(len(programs)))) for shared in self._shared]

    def after(self, a: int) -> dict[int, float]:
        """Return the similarity of a program with each later one that it shares a shingle with."""
        similarities: dict[int, float] = {}
        for shared, weights in zip(self._shared, self._weights, strict=True):
            partners, _, both = shared.after(a)
            for b, weight in zip(partners, both, strict=True):
                similarity = min(2 * weight / (weights[a] + weights[b]), 1.0)
                similarities[b] = max(similarity, similarities.get(b, 0.0))
        return similarities


def idf_weights(programs: int, groups: int) -> array[float]:
    """Return the weights of shingles by the number of groups that have them, from 1 for one or two groups to almost 0.

    A shingle of two groups weighs as much as a shingle of one: in a set of two programs, no shingle is common.
    """
    return array(
        "d", (log((groups + 1) / max(n - 1, 1)) / log(groups + 1) if n <= groups else 0.0 for n in range(programs + 1))
    )


def program_groups(programs: Sequence[PreparedDocument], rows: int) -> array[int]:
    """Return the number of the group of each program. Members share half of their shingles with the first of a group.

    The program with the most such neighbours comes first; its shingles decide between two that have as many.
    """
    shared = _shared([program.shingles for program in programs])
    neighbours: list[list[int]] = [[] for _ in programs]
    for a in range(rows):
        partners, counts, _ = shared.after(a)
        size = len(programs[a].shingles)
        for b, both in zip(partners, counts, strict=True):
            if 2 * both >= SAME_PROGRAM * (size + len(programs[b].shingles)):
                neighbours[a].append(b)
                neighbours[b].append(a)
    groups = array("I", range(len(programs)))
    free = [True] * len(programs)
    for first in sorted(range(len(programs)), key=lambda each: (-len(neighbours[each]), programs[each].shingles)):
        if free[first]:
            for each in (first, *neighbours[first]):
                if free[each]:
                    groups[each], free[each] = first, False
    return groups


def _shared(
    sets: Sequence[array[int]], weights: array[float] | None = None, groups: array[int] | None = None
) -> SharedTokens:
    values = array("Q")
    for each in sets:
        values += each
    return SharedTokens(values, array("I", map(len, sets)), weights, groups)
