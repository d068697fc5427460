"""Compares two texts exactly: scores from their shingles, and the passages they share."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Annotated, NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.passages import PassageFinder, join_runs
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.answers import Listing, answer, derived, key, listed
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.estimates import Estimates, estimate_scores
from opensearch_winnow.queries.relationship import Lengths, Relationship, judge_relationship, same_in
from opensearch_winnow.queries.scores import Overlap, Passage, Scores, Sketches
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions

Sites = tuple[str | None, str | None]  # of A and B
CanonicalRun = tuple[int, int, int, int]  # the offsets of a passage, in canonical characters


class TextRun(NamedTuple):
    """A run of text, with its offsets."""

    start: Annotated[int, "The offset at which it begins."]
    end: Annotated[int, "The offset after its end."]
    text: Annotated[str, "The text."]


class ComparedCapture(NamedTuple):
    """A capture that was compared."""

    id: str
    url: str
    fetched_at: datetime | None


@answer
class Comparison(Listing[Passage]):
    """The text that A and B have in common.

    The scores are exact, over the sets of their shingles. A text without words shares nothing. Boilerplate counts in
    neither the scores nor the passages.
    """

    resemblance: float = key("The shingles in both, as a share of those in either.")
    containment: float = key("The shingles in both, as a share of those in A: how much of A is in B.")
    contained: float = key("The shingles in both, as a share of those in B: how much of B is in A.")
    passages: list[Passage] = listed("The passages that both share, in the order of A.")
    boilerplate: list[Passage] = key("The shared runs that are boilerplate, in the order of A.", default_factory=list)
    left_out: tuple[int, int] = (0, 0)  # shingles of A and of B that are boilerplate
    sameness: str = ""  # if the canonical texts are equal: "the same words in the same order", for example
    lengths: Lengths | None = None  # None: a text is missing, and no passages were sought
    a: ComparedCapture | None = key("The capture A; null if A is not a page of a store.", default=None)
    b: ComparedCapture | None = key("The capture B; null if B is not a page of a store.", default=None)
    removed: list[TextRun] | None = key("The runs of words that only A has; null if not sought.", default=None)
    added: list[TextRun] | None = key("The runs of words that only B has; null if not sought.", default=None)

    @property
    @derived
    def relationship(self) -> Relationship | None:
        """The relationship of B to A, and its reason; null if a text is missing."""
        return judge_relationship(self)


@dataclass(frozen=True, slots=True)
class Side:
    """A text prepared for comparison with many others."""

    canonical: CanonicalText
    shingles: array[int]  # sorted, without repeats
    site: str | None = None
    _finders: dict[int, PassageFinder] = field(default_factory=dict, repr=False, compare=False)  # by window

    @property
    def chars(self) -> str:
        """The canonical characters."""
        return self.canonical.chars

    def runs_shared_with(self, other: Side, scheme: Scheme, window: int) -> list[CanonicalRun]:
        """Return the runs of canonical characters that both texts have. The fingerprints of this text are kept."""
        finder = self._finders.get(window)
        if finder is None:
            finder = self._finders[window] = PassageFinder(self.chars, scheme.k, window, scheme.seed)
        return finder.passages(other.chars)


def side(text: str, scheme: Scheme, *, name: str | None = None, site: str | None = None) -> Side:
    """Prepare a text. `name`, its path or URL, decides the language of code; `site` decides which template applies."""
    prepared = canonical(text, scheme, name=name)
    return Side(prepared, distinct(shingles(prepared, scheme.shingle, scheme.seed)), site)


class Comparer:
    """Compares pages two at a time, without boilerplate: by their texts, or by their sketches.

    The sites of both pages decide whether the template of a site counts. A Side knows its own.
    """

    def __init__(self, scheme: Scheme, exclusions: Exclusions = NO_EXCLUSIONS) -> None:
        self.scheme = scheme
        self.exclusions = exclusions

    def overlap(self, a: array[int], b: array[int], sites: Sites) -> Overlap:
        """Return the sizes of two sorted sets of shingles without boilerplate, and of what they share."""
        ours, theirs = self.exclusions.evidence_of_pair(a, b, sites)
        return Overlap(overlap(ours, theirs), len(ours), len(theirs))

    def scores(self, a: Side, b: Side) -> Scores:
        """Return the exact scores of two texts."""
        return self.overlap(a.shingles, b.shingles, (a.site, b.site)).scores

    def estimate(self, a: Sketches, b: Sketches, sites: Sites = (None, None)) -> Estimates:
        """Estimate the scores of two pages from their sketches.

        Boilerplate can be taken out of a MOD_m sketch, but not out of a MinHash, which is not used if there is any.
        """
        if self.exclusions:
            ours, theirs = self.exclusions.evidence_of_pair(a.sketch, b.sketch, sites)
            a, b = a._replace(sketch=ours, minhash=b""), b._replace(sketch=theirs, minhash=b"")
        return estimate_scores(a, b, self.scheme)

    def passages(
        self, a: Side, b: Side, *, window: int | None = None, join_gap: int = 0
    ) -> tuple[list[Passage], list[Passage]]:
        """Return the passages, and the shared runs that are boilerplate: each in the order of A.

        A run that is partly boilerplate is split; what remains is a passage where it has at least k characters. A
        `window` smaller than the scheme's guarantees that shorter runs are found. `join_gap` is that of `compare`.
        """
        parts = [(False, run) for run in a.runs_shared_with(b, self.scheme, window or self.scheme.w)]
        if self.exclusions:
            site = a.site if a.site == b.site else None
            parts = [
                part
                for _, run in parts
                for part in split_run(
                    run, self.exclusions.spans(a.chars[run[0] : run[1]], site), min_length=self.scheme.k
                )
            ]
            parts.sort(key=itemgetter(1))
        shared: tuple[list[Passage], list[Passage]] = [], []
        for excluded, group in groupby(parts, key=itemgetter(0)):  # runs of one kind are not joined across the other
            for start, end, other_start, other_end in join_runs([run for _, run in group], join_gap):
                span, other_span = a.canonical.span(start, end), b.canonical.span(other_start, other_end)
                shared[excluded].append(Passage(*span, *other_span))
        return shared


def lengths(a: Side, b: Side, scheme: Scheme) -> Lengths:
    """Return the lengths of two texts."""
    (start, end), (other_start, other_end) = (each.canonical.span(0, len(each.chars)) for each in (a, b))
    unit = "token" if scheme.form == "code" else "word"
    return Lengths(end - start, other_end - other_start, len(a.canonical.words), len(b.canonical.words), unit)


def sameness(a: Side, b: Side, scheme: Scheme) -> str:
    """Return, in words, what equal canonical texts have in common; an empty string if they differ or are empty."""
    if not a.chars or a.chars != b.chars or a.canonical.words != b.canonical.words:
        return ""
    if not scheme.fold_confusables:
        return same_in(scheme)
    unfolded = replace(scheme, fold_confusables=False)
    ours, theirs = (canonical(each.canonical.text, unfolded).chars for each in (a, b))
    return same_in(scheme, disguised=ours != theirs)


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
    """Compare texts `a` and `b` exactly. Nothing is sampled, and every passage is verified character by character.

    With a scheme for code, `names` are the paths or URLs of the texts, which decide their languages; a text without a
    name is read in the language of the other. `join_gap` joins passages that are at most this many canonical characters
    apart in both texts, as after a few edits. `boilerplate` does not count; `sites` are the sites of the texts, which
    decide whether the template of a site applies.
    """
    one = side(a, scheme, name=names[0] or names[1], site=sites[0])
    other = side(b, scheme, name=names[1] or names[0], site=sites[1])
    comparer = Comparer(scheme, Exclusions(boilerplate, scheme) if boilerplate else NO_EXCLUSIONS)
    shared = comparer.overlap(one.shingles, other.shingles, sites)
    found, excluded = comparer.passages(one, other, join_gap=join_gap)
    return Comparison(
        **shared.scores._asdict(),
        passages=found,
        boilerplate=excluded,
        left_out=(len(one.shingles) - shared.a, len(other.shingles) - shared.b),
        sameness=sameness(one, other, scheme),
        lengths=lengths(one, other, scheme),
    )


def split_run(
    run: CanonicalRun, spans: Sequence[tuple[int, int]], *, min_length: int
) -> Iterator[tuple[bool, CanonicalRun]]:
    """Split a run at the `spans` of boilerplate, counted from its start; yield whether each part is boilerplate."""
    start, end, other_start, _ = run
    before = 0
    for first, last in (*spans, (end - start, end - start)):
        for excluded, low, high in ((False, before, first), (True, first, last)):
            if high - low >= min_length:
                yield excluded, (start + low, start + high, other_start + low, other_start + high)
        before = last
