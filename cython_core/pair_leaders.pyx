"""Leader clustering from pairs: each page joins the first leader, by page number, that it resembles.

A page that resembles no leader before it becomes a leader. So no cluster is a chain, and no two leaders resemble each
other. A pair of pages that resemble each other is the integer earlier << 32 | later.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes

cdef array.array PAGES = array.array("I")


cdef class PairLeaders:
    """Assigns each of the pages 0 … n-1 to a leader, from pairs added in ascending order."""

    cdef readonly array.array leaders  # 'I': for each page its leader; a leader has itself
    cdef uint64_t last  # the last pair added

    def __cinit__(self, n):
        if not isinstance(n, int):
            raise TypeError(f"PairLeaders() expects an int, got {type(n).__name__}")
        if not 0 <= n <= UINT32_MAX:
            raise ValueError(f"PairLeaders() expects 0 to {UINT32_MAX} pages, got {n}")
        cdef uint32_t i, count = n
        self.leaders = array.clone(PAGES, count, zero=False)
        for i in range(count):
            self.leaders.data.as_uints[i] = i

    def add(self, pairs) -> None:
        """Add pairs in ascending order, none below those added before; a pair may come twice."""
        cdef const uint64_t[::1] pair = hashes(pairs, "add")
        cdef uint32_t* leaders = self.leaders.data.as_uints
        cdef uint64_t earlier, later, n = len(self.leaders)
        cdef Py_ssize_t i, count = pair.shape[0]
        for i in range(count):
            earlier = pair[i] >> 32
            later = pair[i] & UINT32_MAX
            if not earlier < later < n:
                raise ValueError(f"a pair is an earlier and a later of {n} pages, not {earlier} and {later}")
            if pair[i] < self.last:
                raise ValueError("add() expects pairs in ascending order")
            self.last = pair[i]
            # All pairs of the earlier page with pages before it have come: whether it is a leader is decided.
            if leaders[earlier] == earlier and leaders[later] == later:
                leaders[later] = <uint32_t>earlier
