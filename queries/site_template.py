"""The template of a site: the text that many of its pages have."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.estimates import minhash_resemblances
from opensearch_winnow.cython_core.overlap import matching_runs
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme

COUNTED = 200_000  # shingles at a time: a count of each takes 100 bytes
NEAR_DUPLICATES = 0.9  # of a page's estimated resemblance to another


class Run(NamedTuple):
    """Words in a row, all of whose shingles are on many pages."""

    shingles: array[int]  # in the order of the text
    text: str
    place: tuple[int, int]  # which page it was first seen on, and where


def site_template(
    texts: Iterable[str], scheme: Scheme = Scheme(), *, share: float = 0.5, names: Sequence[str | None] | None = None
) -> str:
    """The runs of words all of whose shingles are on at least this share of the texts, and on two; joined by line ends.

    The texts are of different pages of one site, and no near-duplicates of each other: see `unlike`. In the order and
    spelling of the first text that has it, each run is there once, and not again where it is within a longer one. Empty
    if there is none. `names` are paths or URLs, and tell the languages of code.
    """
    pages = list(texts)
    called = names or [None] * len(pages)
    sets = []
    for text, name in zip(pages, called, strict=True):
        sets.append(distinct(shingles(canonical(text, scheme, name=name), scheme.shingle, scheme.seed)))
    many = _on_many(sets, max(ceil(share * len(pages) - 1e-9), 2))
    runs: dict[bytes, Run] = {}
    for number, (text, name) in enumerate(zip(pages, called, strict=True)):
        for run in _runs(canonical(text, scheme, name=name), many, number, scheme):
            runs.setdefault(run.shingles.tobytes(), run)
    return "\n".join(run.text for run in sorted(_longest(runs.values()), key=lambda run: run.place))


def unlike(minhashes: Sequence[bytes], scheme: Scheme = Scheme(), *, below: float = NEAR_DUPLICATES) -> list[int]:
    """Which pages to take: those that resemble none before them so much. A page without a MinHash has no text."""
    kept: list[int] = []
    packed = bytearray()
    for index, each in enumerate(minhashes):
        if each and max(minhash_resemblances(each, packed, scheme.bits), default=0.0) < below:
            kept.append(index)
            packed += each
    return kept


def _on_many(sets: Sequence[array[int]], least: int) -> array[int]:
    """The shingles that are in at least so many sets, sorted. Counted in slices, so that memory is bounded."""
    slices = sum(map(len, sets)) // COUNTED + 1
    edges = [(number << 64) // slices for number in range(slices + 1)]
    many = array("Q")
    for low, high in pairwise(edges):
        counts: Counter[int] = Counter()
        for each in sets:
            counts.update(each[bisect_left(each, low) : bisect_left(each, high)])
        many.extend(sorted(shingle for shingle, count in counts.items() if count >= least))
    return many


def _runs(page: CanonicalText, many: array[int], number: int, scheme: Scheme) -> Iterator[Run]:
    in_order = shingles(page, scheme.shingle, scheme.seed)
    words = [*page.words, len(page.chars)]
    width = len(words) - len(in_order)  # of a shingle; fewer than the scheme's on a page of fewer words
    for start, end in matching_runs(in_order, many):
        first, last = page.span(words[start], words[end + width - 1])
        yield Run(in_order[start:end], page.text[first:last], (number, first))


def _longest(runs: Iterable[Run]) -> list[Run]:
    """Without those that are within another."""
    kept: list[Run] = []
    within: dict[int, list[tuple[Run, int]]] = defaultdict(list)  # where a shingle is in the runs that are kept
    for run in sorted(runs, key=lambda run: (-len(run.shingles), run.place)):
        size = len(run.shingles)
        if not any(longer.shingles[at : at + size] == run.shingles for longer, at in within[run.shingles[0]]):
            kept.append(run)
            for at, shingle in enumerate(run.shingles):
                within[shingle].append((run, at))
    return kept
