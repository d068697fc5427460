"""Pairs of real pages with many different resemblances and containments, and their exact values."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.mappings.record import Record

WIDTH = 10  # words of a shingle, as in the paper
MIN_SHINGLES = 400  # of a page: below, the larger sketches hold all its shingles and have no error
MIXED_WORDS = 1_500  # of a constructed page
WITH_SPACES = ("https://lucene.example/", "https://spdx.example/")  # sites whose words are divided by spaces


class Pair(NamedTuple):
    """Two texts, and how many shingles they have."""

    a: CanonicalText
    b: CanonicalText
    count_a: int
    count_b: int
    shared: int

    @property
    def union(self) -> int:
        return self.count_a + self.count_b - self.shared

    @property
    def resemblance(self) -> float:
        return self.shared / self.union

    @property
    def containment(self) -> float:
        """Containment of a in b."""
        return self.shared / self.count_a


def shingle_set(text: CanonicalText, key: int = 0) -> array[int]:
    """Return the distinct shingles. Each key stands for another random permutation of all shingles."""
    return distinct(shingles(text, WIDTH, key))


def pair_of(a: str, b: str) -> Pair:
    texts = canonical_text(a), canonical_text(b)
    one, two = (set(shingle_set(text)) for text in texts)
    return Pair(*texts, len(one), len(two), len(one & two))


def versions(records: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    """Yield pairs of pages with one path in two releases of a site."""
    by_path = defaultdict(list)
    for record in records:
        scheme, _, site, _, *path = record.url.split("/")
        if path and record.hashes.shingle_count >= MIN_SHINGLES:
            by_path[scheme, site, *path].append(record)
    for pages in by_path.values():
        yield from combinations(pages, 2)


class Mixer:
    """Makes texts from runs of words of real pages."""

    def __init__(self, records: Iterable[Record], random: Random) -> None:
        own = [
            r.text.split() for r in records if r.url.startswith(WITH_SPACES) and r.hashes.shingle_count >= MIN_SHINGLES
        ]
        self._pages = own
        self._random = random

    def words(self, count: int) -> list[str]:
        """Return `count` words: runs from several pages, at most half a page each."""
        words: list[str] = []
        while len(words) < count:
            page = self._random.choice(self._pages)
            length = min(len(page) // 2, count - len(words))
            start = self._random.randrange(len(page) - length + 1)
            words += page[start : start + length]
        return words

    def resembling(self, resemblance: float, words: int = MIXED_WORDS) -> Pair:
        """Return two texts of `words` words that share a part, for about this resemblance."""
        common = round(2 * words * resemblance / (1 + resemblance))
        shared = self.words(common)
        a, b = (shared + self.words(words - common) for _ in range(2))
        return pair_of(" ".join(a), " ".join(b))

    def contained(self, containment: float, words: int, words_around: int) -> Pair:
        """Return a text of which about this share is in the other one, which is longer by `words_around`."""
        shared = self.words(round(words * containment))
        own = self.words(words - len(shared))
        around = self.words(words_around)
        index = self._random.randrange(len(around) + 1)
        return pair_of(" ".join(shared + own), " ".join(around[:index] + shared + around[index:]))


def spread(pairs: Iterable[Pair], steps: int, each: int) -> list[Pair]:
    """Return at most `each` pairs of every step of resemblance, in the order given."""
    taken: dict[int, list[Pair]] = defaultdict(list)
    for pair in pairs:
        step = taken[min(int(pair.resemblance * steps), steps - 1)]
        if pair.resemblance < 1 and len(step) < each:
            step.append(pair)
    return [pair for step in sorted(taken) for pair in taken[step]]


def resembling_pairs(records: Sequence[Record], each: int) -> list[Pair]:
    """Return versions of real pages, and texts mixed from real pages: `each` for every tenth of resemblance."""
    random = Random(1997)
    found = list(versions(records))
    random.shuffle(found)
    real = spread((pair_of(a.text, b.text) for a, b in found[: 100 * each]), 10, each)
    mixer = Mixer(records, random)
    return real + [mixer.resembling((step + 0.5) / 10) for step in range(10) for _ in range(each)]


def contained_pairs(records: Sequence[Record], each: int) -> list[Pair]:
    """Return texts of which a part is in another text, with one to `each` times as many words around it."""
    mixer = Mixer(records, Random(1996))
    return [
        mixer.contained((step + 0.5) / 10, MIXED_WORDS, times * MIXED_WORDS)
        for step in range(10)
        for times in range(1, each + 1)
    ]
