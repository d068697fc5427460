"""Two texts held against each other."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.passages import join_runs, passages
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import NOTHING, Boilerplate, Exclusions

Run = tuple[int, int, int, int]  # as a passage, in canonical characters


class Passage(NamedTuple):
    """A run that two texts share, in code points of each."""

    start: int
    end: int
    other_start: int
    other_end: int


class Scores(NamedTuple):
    resemblance: float  # shingles in both, of those in either
    containment: float  # shingles in both, of those in A: how much of A is in B
    contained: float  # how much of B is in A


@dataclass(frozen=True, slots=True)
class Comparison:
    """What texts A and B have in common: exact, over the sets of their shingles. A text of no words shares nothing.

    Boilerplate is not in the scores, and not among the passages.
    """

    resemblance: float  # shingles in both, of those in either
    containment: float  # shingles in both, of those in A: how much of A is in B
    contained: float  # how much of B is in A
    passages: list[Passage]  # in the order of A
    boilerplate: list[Passage] = field(default_factory=list)  # runs that both have, but that are no evidence
    left_out: tuple[int, int] = (0, 0)  # shingles of A, and of B, that do not count


@dataclass(frozen=True, slots=True)
class Side:
    """A text that is ready to be held against many."""

    canonical: CanonicalText
    shingles: array[int]  # sorted, without repeats
    site: str | None = None

    @property
    def chars(self) -> str:
        return self.canonical.chars


def side(text: str, scheme: Scheme, *, name: str | None = None, site: str | None = None) -> Side:
    """`name` is the path or URL of the text, and tells the language of code; `site` tells whose template is in it."""
    compared = canonical(text, scheme, name=name)
    return Side(compared, distinct(shingles(compared, scheme.shingle, scheme.seed)), site)


def scores(a: Side, b: Side, exclusions: Exclusions = NOTHING) -> Scores:
    return _scores(*exclusions.counted(a.shingles, b.shingles, (a.site, b.site)))


def shared_passages(
    a: Side,
    b: Side,
    scheme: Scheme,
    *,
    window: int | None = None,
    join_gap: int = 0,
    exclusions: Exclusions = NOTHING,
) -> tuple[list[Passage], list[Passage]]:
    """The passages, and the runs that are boilerplate: each in the order of A.

    A run that is boilerplate in parts is split: the rest of it is passages where it is long enough to be one. With a
    smaller `window` than the scheme's shorter runs are sure to be found.
    """
    parts = [(False, run) for run in passages(a.chars, b.chars, scheme.k, window or scheme.w, scheme.seed)]
    if exclusions:
        site = a.site if a.site == b.site else None
        parts = [
            part
            for _, run in parts
            for part in _parts(run, exclusions.places(a.chars[run[0] : run[1]], site), least=scheme.k)
        ]
        parts.sort(key=itemgetter(1))
    found: tuple[list[Passage], list[Passage]] = [], []
    for excluded, group in groupby(parts, key=itemgetter(0)):  # so that none is joined across the other kind
        for start, end, other_start, other_end in join_runs([run for _, run in group], join_gap):
            found[excluded].append(Passage(*a.canonical.span(start, end), *b.canonical.span(other_start, other_end)))
    return found


def compare(
    a: str,
    b: str,
    scheme: Scheme = Scheme(),
    *,
    names: tuple[str | None, str | None] = (None, None),
    join_gap: int = 0,
    boilerplate: Sequence[Boilerplate] = (),
    sites: tuple[str | None, str | None] = (None, None),
) -> Comparison:
    """Compare two texts exactly: no sample is taken, and no passage rests on a hash alone.

    `names` are the paths or URLs of A and B, and tell the languages of code; one without a name is taken to be in the
    language of the other. `join_gap` makes one passage of those that lie at most so many canonical characters apart in
    both: a few edits. `boilerplate` does not count; of a site's it is only between and on pages of these `sites`.
    """
    one = side(a, scheme, name=names[0] or names[1], site=sites[0])
    other = side(b, scheme, name=names[1] or names[0], site=sites[1])
    exclusions = Exclusions(boilerplate, scheme) if boilerplate else NOTHING
    ours, theirs = exclusions.counted(one.shingles, other.shingles, sites)
    found, excluded = shared_passages(one, other, scheme, join_gap=join_gap, exclusions=exclusions)
    return Comparison(
        **_scores(ours, theirs)._asdict(),
        passages=found,
        boilerplate=excluded,
        left_out=(len(one.shingles) - len(ours), len(other.shingles) - len(theirs)),
    )


def _scores(ours: array[int], theirs: array[int]) -> Scores:
    both = overlap(ours, theirs)
    return Scores(
        resemblance=both / max(len(ours) + len(theirs) - both, 1),
        containment=both / max(len(ours), 1),
        contained=both / max(len(theirs), 1),
    )


def _parts(run: Run, places: Sequence[tuple[int, int]], *, least: int) -> Iterator[tuple[bool, Run]]:
    """The parts of a run, and whether each is boilerplate; places are counted from where the run starts."""
    start, end, other_start, _ = run
    before = 0
    for first, last in (*places, (end - start, end - start)):
        for excluded, low, high in ((False, before, first), (True, first, last)):
            if high - low >= least:
                yield excluded, (start + low, start + high, other_start + low, other_start + high)
        before = last
