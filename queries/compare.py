"""Two texts held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from opensearch_winnow.canonical import canonical
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.passages import join, passages
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.scheme import Scheme


class Passage(NamedTuple):
    """A run that two texts share, in code points of each."""

    start: int
    end: int
    other_start: int
    other_end: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What texts A and B have in common: exact, over the sets of their shingles. A text of no words shares nothing."""

    resemblance: float  # shingles in both, of those in either
    containment: float  # shingles in both, of those in A: how much of A is in B
    contained: float  # how much of B is in A
    passages: list[Passage]  # in the order of A


def compare(
    a: str,
    b: str,
    scheme: Scheme = Scheme(),
    *,
    names: tuple[str | None, str | None] = (None, None),
    join_gap: int = 0,
) -> Comparison:
    """Compare two texts exactly: no sample is taken, and no hash is trusted without its characters.

    `names` are the paths or URLs of A and B, and tell the languages of code; one without a name is taken to be in the
    language of the other. `join_gap` makes one passage of those that lie at most so many canonical characters apart in
    both: a few edits.
    """
    one = canonical(a, scheme, name=names[0] or names[1])
    other = canonical(b, scheme, name=names[1] or names[0])
    ours, theirs = (distinct(shingles(each, scheme.shingle, scheme.seed)) for each in (one, other))
    both = overlap(ours, theirs)
    runs = join(passages(one.chars, other.chars, scheme.k, scheme.w, scheme.seed), join_gap)
    return Comparison(
        resemblance=both / max(len(ours) + len(theirs) - both, 1),
        containment=both / max(len(ours), 1),
        contained=both / max(len(theirs), 1),
        passages=[
            Passage(*one.span(start, end), *other.span(other_start, other_end))
            for start, end, other_start, other_end in runs
        ],
    )
