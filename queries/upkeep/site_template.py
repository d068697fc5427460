"""Learns the template of a site: the text that many of its pages share."""

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

SLICE_SIZE = 200_000  # shingles counted at a time; each takes about 100 bytes
NEAR_DUPLICATE = 0.9  # the estimated resemblance from which a page is left out of a sample
MIN_PAGES = 5  # changed pages; what fewer have in common may be chance
MIN_SHARE = 0.5  # of these pages


class WordRun(NamedTuple):
    """Consecutive words whose shingles are all on many pages."""

    shingles: array[int]  # in the order of the text
    text: str
    first_occurrence: tuple[int, int]  # the number of the first page that has it, and the offset there


def site_template(
    texts: Iterable[str], scheme: Scheme = Scheme(), *, share: float = 0.5, names: Sequence[str | None] | None = None
) -> str:
    """Return the template of a site: the runs of words that its pages share, one per line; empty if there is none.

    A run belongs to the template if all its shingles are on at least two texts, and on at least this `share` of them.
    Each run appears once, as the first text that has it spells it, and not again where it is within a longer run.
    The texts are those of different pages of the site; leave out near-duplicates, as `without_near_duplicates` does.
    `names` are the paths or URLs of the texts, which decide the languages of code.
    """
    pages = list(texts)
    page_names = names or [None] * len(pages)
    sets = []
    for text, name in zip(pages, page_names, strict=True):
        sets.append(distinct(shingles(canonical(text, scheme, name=name), scheme.shingle, scheme.seed)))
    common = _common_shingles(sets, max(ceil(share * len(pages) - 1e-9), 2))
    runs: dict[bytes, WordRun] = {}
    for number, (text, name) in enumerate(zip(pages, page_names, strict=True)):
        for run in _runs(canonical(text, scheme, name=name), common, number, scheme):
            runs.setdefault(run.shingles.tobytes(), run)
    return "\n".join(run.text for run in sorted(_maximal(runs.values()), key=lambda run: run.first_occurrence))


def without_near_duplicates(
    minhashes: Sequence[bytes], scheme: Scheme = Scheme(), *, below: float = NEAR_DUPLICATE
) -> list[int]:
    """Return the indices of the pages whose resemblance to every earlier page in the result is less than `below`.

    A page without a MinHash has no text, and is left out.
    """
    indices: list[int] = []
    packed = bytearray()
    for index, each in enumerate(minhashes):
        if each and max(minhash_resemblances(each, packed, scheme.bits), default=0.0) < below:
            indices.append(index)
            packed += each
    return indices


def _common_shingles(sets: Sequence[array[int]], min_sets: int) -> array[int]:
    """Return the shingles in at least `min_sets` sets, sorted. They are counted in slices, to bound the memory."""
    slices = sum(map(len, sets)) // SLICE_SIZE + 1
    edges = [(number << 64) // slices for number in range(slices + 1)]
    common = array("Q")
    for low, high in pairwise(edges):
        counts: Counter[int] = Counter()
        for each in sets:
            counts.update(each[bisect_left(each, low) : bisect_left(each, high)])
        common.extend(sorted(shingle for shingle, count in counts.items() if count >= min_sets))
    return common


def _runs(page: CanonicalText, common: array[int], number: int, scheme: Scheme) -> Iterator[WordRun]:
    in_order = shingles(page, scheme.shingle, scheme.seed)
    words = [*page.words, len(page.chars)]
    width = len(words) - len(in_order)  # words in a shingle; fewer than the scheme's on a page of fewer words
    for start, end in matching_runs(in_order, common):
        first, last = page.span(words[start], words[end + width - 1])
        yield WordRun(in_order[start:end], page.text[first:last], (number, first))


def _maximal(runs: Iterable[WordRun]) -> list[WordRun]:
    """Return the runs that are not within another run."""
    maximal: list[WordRun] = []
    occurrences: dict[int, list[tuple[WordRun, int]]] = defaultdict(list)  # of each shingle in the maximal runs
    for run in sorted(runs, key=lambda run: (-len(run.shingles), run.first_occurrence)):
        size = len(run.shingles)
        if not any(longer.shingles[at : at + size] == run.shingles for longer, at in occurrences[run.shingles[0]]):
            maximal.append(run)
            for at, shingle in enumerate(run.shingles):
                occurrences[shingle].append((run, at))
    return maximal


class TemplateChange:
    """The lines that at least half of the changed pages of a site lost, and the lines that at least half gained.

    A page changed by the template alone if nothing else differs: without these lines, both captures have the same lines
    in the same order. Lines are compared by their letters and digits.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], scheme: Scheme = Scheme()) -> None:
        """Learn from `pairs` of texts, before and after, of pages of one site that have changed."""
        self._scheme = scheme
        lost: Counter[str] = Counter()
        gained: Counter[str] = Counter()
        pages = 0
        for before, after in pairs:
            ours, theirs = set(self._lines(before)), set(self._lines(after))
            lost.update(ours - theirs)
            gained.update(theirs - ours)
            pages += 1
        least = ceil(MIN_SHARE * max(pages, MIN_PAGES))
        self._lost = {line for line, count in lost.items() if count >= least}
        self._gained = {line for line, count in gained.items() if count >= least}

    def __bool__(self) -> bool:
        return bool(self._lost or self._gained)

    def explains(self, before: str, after: str) -> bool:
        """Return whether the two texts differ by the template alone."""
        ours = [line for line in self._lines(before) if line not in self._lost]
        return bool(self) and ours == [line for line in self._lines(after) if line not in self._gained]

    def _lines(self, text: str) -> list[str]:
        lines = (canonical(line, self._scheme).chars for line in text.splitlines())
        return [line for line in lines if line]
