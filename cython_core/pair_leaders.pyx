"""Which page each page of a crawl joins: the first, in the order of their numbers, that it resembles and that leads.

A page that resembles no leader before it leads. So no cluster is a chain, and no two leaders resemble each other. A
pair of pages that resemble each other is an integer: the number of the later page, and above 32 bits that of the
earlier.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes

cdef array.array PAGES = array.array("I")


cdef class PairLeaders:
    """The pages 0 … n-1; pairs are added in ascending order."""

    cdef readonly array.array leaders  # 'I': for each page the leader that it joins, or itself
    cdef uint64_t last  # pair

    def __cinit__(self, n):
        if not isinstance(n, int):
            raise TypeError(f"PairLeaders() wants an int, got {type(n).__name__}")
        if not 0 <= n <= UINT32_MAX:
            raise ValueError(f"PairLeaders() wants 0 to {UINT32_MAX} pages, got {n}")
        cdef uint32_t i, count = n
        self.leaders = array.clone(PAGES, count, zero=False)
        for i in range(count):
            self.leaders.data.as_uints[i] = i

    def add(self, pairs) -> None:
        """Pairs that come after those before; one twice is no harm."""
        cdef const uint64_t[::1] pair = hashes(pairs, "add")
        cdef uint32_t* leaders = self.leaders.data.as_uints
        cdef uint64_t earlier, later, n = len(self.leaders)
        cdef Py_ssize_t i, count = pair.shape[0]
        for i in range(count):
            earlier = pair[i] >> 32
            later = pair[i] & UINT32_MAX
            if not earlier < later < n:
                raise ValueError(f"a pair is of an earlier and a later of {n} pages, not {earlier} and {later}")
            if pair[i] < self.last:
                raise ValueError("add() wants pairs in ascending order")
            self.last = pair[i]
            # All pairs of the earlier page with pages before it were here: it is known whether it leads.
            if leaders[earlier] == earlier and leaders[later] == later:
                leaders[later] = <uint32_t>earlier
