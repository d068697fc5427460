"""Finds representatives from pairs: each page joins the first representative, by page number, that it resembles.

A page that resembles no representative before it becomes one itself. So no cluster is a chain, and no two
representatives resemble each other. A pair of pages that resemble each other is the integer earlier << 32 | later.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes

cdef array.array PAGES = array.array("I")


cdef class PairRepresentatives:
    """Assigns each of the pages 0 … n-1 to a representative, from pairs added in ascending order."""

    cdef readonly array.array representatives  # 'I': for each page its representative; a representative has itself
    cdef uint64_t last  # the last pair added

    def __cinit__(self, n):
        if not isinstance(n, int):
            raise TypeError(f"PairRepresentatives() expects an int, got {type(n).__name__}")
        if not 0 <= n <= UINT32_MAX:
            raise ValueError(f"PairRepresentatives() expects 0 to {UINT32_MAX} pages, got {n}")
        cdef uint32_t i, count = n
        self.representatives = array.clone(PAGES, count, zero=False)
        for i in range(count):
            self.representatives.data.as_uints[i] = i

    def add(self, pairs) -> None:
        """Add pairs in ascending order, none below those added before; a pair may come twice."""
        cdef const uint64_t[::1] pair = hashes(pairs, "add")
        cdef uint32_t* representatives = self.representatives.data.as_uints
        cdef uint64_t earlier, later, n = len(self.representatives)
        cdef Py_ssize_t i, count = pair.shape[0]
        for i in range(count):
            earlier = pair[i] >> 32
            later = pair[i] & UINT32_MAX
            if not earlier < later < n:
                raise ValueError(f"a pair is an earlier and a later of {n} pages, not {earlier} and {later}")
            if pair[i] < self.last:
                raise ValueError("add() expects pairs in ascending order")
            self.last = pair[i]
            # All pairs of the earlier page with pages before it have come: whether it is a representative is decided.
            if representatives[earlier] == earlier and representatives[later] == later:
                representatives[later] = <uint32_t>earlier
