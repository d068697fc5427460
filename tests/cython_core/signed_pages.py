"""Pages given by their shingles, with their MinHash signatures."""

from __future__ import annotations

from array import array
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from opensearch_winnow.cython_core.minhash import minhash, pack

BINS = 128  # few, so that many estimates are uncertain

widths = st.sampled_from([1, 2, 4, 8, 16])
thresholds = st.one_of(st.sampled_from([1e-9, 0.5, 1.0]), st.floats(0.01, 1))


class SignedPages(NamedTuple):
    shingles: list[array[int]]
    bits: int

    @property
    def minhashes(self) -> list[bytes]:
        empty = bytes(BINS * self.bits // 8)
        return [pack(minhash(each, BINS), self.bits) or empty for each in self.shingles]

    @property
    def counts(self) -> array[int]:
        return array("I", map(len, self.shingles))


def families(seed: int, count: int, texts: int) -> list[array[int]]:
    """Return pages that share parts of one of some texts and have text of their own; some have few shingles or none."""
    random = Random(seed)
    sources = [[random.getrandbits(64) for _ in range(40)] for _ in range(texts)]
    pages = []
    for _ in range(count):
        shared = random.sample(random.choice(sources), random.choice([0, 1, 10, 20, 30, 38, 40]))
        pages.append(array("Q", shared + [random.getrandbits(64) for _ in range(random.choice([0, 0, 1, 5, 15]))]))
    return pages
