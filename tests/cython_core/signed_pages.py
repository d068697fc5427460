"""Pages given by their shingles, with their MinHash signatures."""

from __future__ import annotations

from array import array
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
