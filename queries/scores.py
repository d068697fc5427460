"""Defines the input and the results of a comparison: sketches, scores and passages."""

from __future__ import annotations

from array import array
from typing import Annotated, Literal, NamedTuple, Self

from opensearch_winnow.mappings.record import Record

Score = Literal["resemblance", "containment", "contained"]


class Scores(NamedTuple):
    """The overlap of the sets of shingles of A and B."""

    resemblance: float  # |A ∩ B| / |A ∪ B| (Jaccard)
    containment: float  # |A ∩ B| / |A|: the share of A that is in B
    contained: float  # |A ∩ B| / |B|: the share of B that is in A


class Overlap(NamedTuple):
    """The sizes of two sets of hashes."""

    both: int  # |A ∩ B|
    a: int
    b: int

    @property
    def either(self) -> int:
        """The size of their union."""
        return self.a + self.b - self.both

    @property
    def scores(self) -> Scores:
        """The exact scores of the sets."""
        return scores_of(self.both, self.a, self.b)


def scores_of(both: int, a: int, b: int) -> Scores:
    """Return the scores of sets of `a` and `b` hashes that share `both`. An empty set shares nothing."""
    return Scores(both / max(a + b - both, 1), both / max(a, 1), both / max(b, 1))


class Passage(NamedTuple):
    """A run of text that A and B share, with its offsets in code points of each."""

    start: Annotated[int, "The offset at which it begins in A, or in the question."]
    end: Annotated[int, "The offset after its end in A."]
    other_start: Annotated[int, "The offset at which it begins in B, or in the match."]
    other_end: Annotated[int, "The offset after its end in B."]


class Sketches(NamedTuple):
    """The sketches of a page."""

    shingle_count: int
    sketch: array[int]  # MOD_m
    minhash: bytes = b""  # packed; empty if boilerplate is excluded, which cannot be taken out of it

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the sketches of a record."""
        return cls(record.hashes.shingle_count, record.hashes.sketch, record.hashes.minhash)


NO_SKETCHES = Sketches(0, array("Q"))
