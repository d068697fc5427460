"""The sources of a text: the pages that have its parts, each part counted once, and the rest, which is on no page."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import islice
from typing import Annotated, NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.asking.matches import Match
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.spans import Span, merged_spans

MIN_SAME = 0.9  # matches whose passages share this part of their union (Jaccard) have the same of the text
MAX_FAMILIES_COMPARED = 50  # with the same passages, that a page is compared with: a popular quote is on many pages
MIN_ADDED_CHARS = 25  # letters and digits that a source must add; a page that adds less joins the closest source
MAX_SOURCES = 200  # the owner of a character is kept in a byte; further matches are parts of these
MAX_HALF_WORD_CHARS = 40  # a passage is cut back to whole words, unless a word is longer
FREE, BOILERPLATE = 0, 255  # owners of a character that belongs to no source
AreAlike = Callable[[Card, Card], bool]
RUN_OF_ONE_OWNER = re.compile(rb"(.)\1*", re.DOTALL)


@dataclass(slots=True)
class TextSource:
    """Pages that have the same parts of the text: one page, its versions, and other pages with the same or less."""

    number: Annotated[int, "The number of the source, from 1 for the one that has most of the text."]
    page: int  # position, in the list of matches, of the page that has most of it
    versions: list[int]  # positions of further pages that are versions of it
    partial: list[int] = field(default_factory=list)  # positions of other pages that have no more of the text
    parts: list[Span] = field(default_factory=list)  # its parts of the text, in order; no two sources overlap
    share: Annotated[float, "The share of the text that it has."] = 0.0

    @property
    def pages(self) -> int:
        """The number of its pages."""
        return 1 + len(self.versions) + len(self.partial)


class SourcedPart(NamedTuple):
    """A part of the text, and the number of the source it belongs to."""

    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextSources:
    """All of a text: the parts that sources have, boilerplate, and the rest. The shares count letters and digits."""

    sources: Sequence[TextSource]
    boilerplate: Sequence[Span]  # outside of the sources' parts
    boilerplate_share: float
    original: float | None  # the share that is on no page; None if no match has passages
    unplaced: Sequence[int]  # positions of matches without passages

    @property
    def found(self) -> float:
        """The share of the text that sources have."""
        return sum(each.share for each in self.sources)

    @property
    def parts(self) -> list[SourcedPart]:
        """The parts that sources have, in the order of the text."""
        found = (SourcedPart(each.number, *span) for each in self.sources for span in each.parts)
        return sorted(found, key=lambda part: part.start)


def sources(text: str, matches: Sequence[Match], are_alike: AreAlike) -> TextSources:
    """Attribute every part of a text to the source that has most of the text, and return the share that is left.

    Pages of a cluster, and pages with the same text, are versions of each other. So are pages that have the same parts
    of the text, if `are_alike` says that the pages resemble each other: two pages may just quote the same.
    """
    letters = _Letters(text)
    families, unplaced = _families(letters, matches, are_alike)
    owners = bytearray(letters.count)
    found = _attribute(owners, families)
    for match in matches:
        for start, end in letters.ranges(match.boilerplate):
            owners[start:end] = owners[start:end].replace(bytes([FREE]), bytes([BOILERPLATE]))
    grey: list[Span] = []
    for run in RUN_OF_ONE_OWNER.finditer(owners):
        owner = run[1][0]
        if owner != FREE:
            (grey if owner == BOILERPLATE else found[owner - 1].parts).append(letters.span(*run.span()))
    total = max(letters.count, 1)
    for each in found:
        each.share = owners.count(each.number) / total
    original = owners.count(FREE) / total if found or grey or not matches else None
    return TextSources(found, grey, owners.count(BOILERPLATE) / total, original, unplaced)


class _Letters:
    """The letters and digits of a text by their position among themselves; other characters never count."""

    def __init__(self, text: str) -> None:
        self._canonical: CanonicalText = canonical_text(text)
        self._offsets = self._canonical.offsets
        self._words = [*self._canonical.words, len(self._canonical.chars)]
        self.count = len(self._canonical.chars)

    def ranges(self, passages: Iterable[Passage]) -> list[Span]:
        """Return the ranges of the whole words in passages, merged and in order."""
        return merged_spans(span for each in passages if (span := self._whole_words(each)))

    def span(self, start: int, end: int) -> Span:
        """Return the span in the text of the letters from `start` to `end`."""
        return self._canonical.span(start, end)

    def _whole_words(self, passage: Passage) -> Span | None:
        start, end = (bisect_left(self._offsets, offset) for offset in (passage.start, passage.end))
        if start >= end:
            return None
        first = self._words[bisect_left(self._words, start)]
        last = self._words[bisect_right(self._words, end) - 1]
        first = first if first - start <= MAX_HALF_WORD_CHARS else start
        last = last if end - last <= MAX_HALF_WORD_CHARS else end
        return (first, last) if first < last else (start, end)


class _Family(NamedTuple):
    """Matches that are versions of each other, and the ranges of the text that any of them has."""

    pages: list[int]  # positions of the matches; the one with most of the text comes first
    ranges: list[Span]


def _families(letters: _Letters, matches: Sequence[Match], are_alike: AreAlike) -> tuple[list[_Family], list[int]]:
    """Fold matches into families; return these, and the positions of matches without a passage or a family."""
    ranges = [letters.ranges(match.passages) for match in matches]
    sizes = [sum(end - start for start, end in each) for each in ranges]
    by_size = sorted(range(len(matches)), key=lambda at: -sizes[at])
    families: list[list[int]] = []
    by_key: dict[str, list[int]] = {}
    unplaced = []
    for at in by_size:
        card = matches[at].card
        keys = [f"{kind}:{key}" for kind, key in (("cluster", card.cluster), ("text", card.text_digest)) if key]
        family = next((by_key[key] for key in keys if key in by_key), None)
        if family is None and sizes[at]:
            same = islice(_same_passages(at, families, ranges, sizes), MAX_FAMILIES_COMPARED)
            family = next((each for each in same if are_alike(card, matches[each[0]].card)), None)
        if family is None and not sizes[at]:
            unplaced.append(at)
            continue
        if family is None:
            families.append(family := [])
        family.append(at)
        for key in keys:
            by_key.setdefault(key, family)
    return [
        _Family([first, *sorted(others)], merged_spans(span for at in (first, *others) for span in ranges[at]))
        for first, *others in families
    ], sorted(unplaced)


def _same_passages(
    at: int, families: Sequence[list[int]], ranges: Sequence[list[Span]], sizes: Sequence[int]
) -> Iterator[list[int]]:
    """Yield the families whose first match has nearly the same passages. Families are sorted by size."""
    for family in reversed(families):
        first = family[0]
        if sizes[at] < MIN_SAME * sizes[first]:
            return
        both = _overlap(ranges[at], ranges[first])
        if both >= MIN_SAME * (sizes[at] + sizes[first] - both):
            yield family


def _overlap(a: Sequence[Span], b: Sequence[Span]) -> int:
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]), 0)
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def _attribute(owners: bytearray, families: Sequence[_Family]) -> list[TextSource]:
    """Give each letter its owner. The next source is the family that has most of the letters still free."""

    def free(family: _Family) -> int:
        return sum(owners.count(FREE, start, end) for start, end in family.ranges)

    def take(family: _Family, number: int) -> None:
        for start, end in family.ranges:
            owners[start:end] = owners[start:end].replace(bytes([FREE]), bytes([number]))

    found: list[TextSource] = []
    small: list[_Family] = []
    waiting = [(-free(each), at) for at, each in enumerate(families)]
    heapify(waiting)
    while waiting:
        known, at = waiting[0]
        if (now := -free(families[at])) > known:  # a family adds ever fewer letters: another may be best now
            heapreplace(waiting, (now, at))
            continue
        heappop(waiting)
        first, *versions = families[at].pages
        if found and (-now < MIN_ADDED_CHARS or len(found) == MAX_SOURCES):
            small.append(families[at])
            continue
        found.append(TextSource(len(found) + 1, first, versions))
        take(families[at], len(found))
    for family in small:
        nearest = max(found, key=lambda source: sum(owners.count(source.number, *span) for span in family.ranges))
        nearest.partial += family.pages
        take(family, nearest.number)
    for source in found:
        source.partial.sort()
    return found
