"""Connected components of pairs, by union-find."""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport kind

ctypedef fused member:
    uint32_t
    uint64_t


cdef class UnionFind:
    """A partition of the members 0 … n-1 into components; each member starts alone.

    A component is named by its smallest member, so no result depends on the order of the joins. An instance must not be
    used by two threads at once.
    """

    cdef uint32_t n
    cdef uint32_t* parent
    cdef uint32_t* size  # size of the component, valid at its root
    cdef uint32_t* smallest  # smallest member of the component, valid at its root

    def __cinit__(self, n):
        if not isinstance(n, int):
            raise TypeError(f"UnionFind() expects an int, got {type(n).__name__}")
        if not 0 <= n <= UINT32_MAX:
            raise ValueError(f"UnionFind() expects 0 to {UINT32_MAX} members, got {n}")
        self.n = n
        self.parent = <uint32_t*>malloc(3 * <size_t>self.n * sizeof(uint32_t) + 1)  # + 1: never an empty block
        if self.parent == NULL:
            raise MemoryError(f"UnionFind() could not get {12 * n} bytes for {n} members")
        self.size = self.parent + self.n
        self.smallest = self.size + self.n
        cdef uint32_t i
        with nogil:
            for i in range(self.n):
                self.parent[i] = i
                self.size[i] = 1
                self.smallest[i] = i

    def __dealloc__(self):
        free(self.parent)

    def __len__(self) -> int:
        return self.n

    def join(self, a, b) -> bool:
        """Join the components of `a` and `b`; return False if they were one already."""
        return _join(self, self._member(a), self._member(b))

    def join_all(self, left, right) -> int:
        """Join left[i] with right[i] for every i and return the number of pairs that joined two components.

        The arrays have the same length and the same typecode, 'I' or 'Q'. A member out of range raises ValueError
        before any pair is joined.
        """
        cdef const uint32_t[::1] left32 = None, right32 = None
        cdef const uint64_t[::1] left64 = None, right64 = None
        try:
            lefts, rights = memoryview(left), memoryview(right)
            if lefts.itemsize == sizeof(uint32_t):
                left32, right32 = lefts, rights
            else:
                left64, right64 = lefts, rights
        except (TypeError, ValueError, BufferError):
            raise TypeError(
                "join_all() expects two arrays of the same typecode, 'I' or 'Q', "
                f"got {kind(left)} and {kind(right)}"
            ) from None
        return self._join_all(left64, right64) if left32 is None else self._join_all(left32, right32)

    def find(self, a) -> int:
        """Return the smallest member of the component of `a`."""
        return self.smallest[_root(self, self._member(a))]

    def labels(self) -> array.array:
        """Return for each member the smallest member of its component (typecode 'I')."""
        cdef array.array labels = array.clone(array.array("I"), self.n, zero=False)
        cdef uint32_t* label = labels.data.as_uints
        cdef uint32_t i
        with nogil:
            for i in range(self.n):
                label[i] = self.smallest[_root(self, i)]
        return labels

    cdef uint32_t _member(self, a) except? 0xFFFFFFFF:
        if not isinstance(a, int):
            raise TypeError(f"a member is an int, got {type(a).__name__}")
        if not 0 <= a < self.n:
            raise ValueError(f"{a} is not one of the {self.n} members")
        return a

    cdef Py_ssize_t _join_all(self, const member[::1] left, const member[::1] right) except -1:
        cdef Py_ssize_t i, joined = 0, count = left.shape[0]
        cdef member largest = 0
        if count != right.shape[0]:
            raise ValueError(f"join_all() expects two arrays of the same length, got {count} and {right.shape[0]}")
        with nogil:
            for i in range(count):
                largest = max(largest, left[i], right[i])
            if largest < self.n:
                for i in range(count):
                    joined += _join(self, <uint32_t>left[i], <uint32_t>right[i])
        if count and largest >= self.n:
            raise ValueError(f"{largest} is not one of the {self.n} members")
        return joined


cdef inline uint32_t _root(UnionFind self, uint32_t a) noexcept nogil:
    """Return the root of `a`, with path halving: every second node on the way up is linked to its grandparent."""
    cdef uint32_t* parent = self.parent
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


cdef inline bint _join(UnionFind self, uint32_t a, uint32_t b) noexcept nogil:
    a = _root(self, a)
    b = _root(self, b)
    if a == b:
        return False
    if self.size[a] < self.size[b]:
        a, b = b, a
    self.parent[b] = a  # the smaller below the larger: no path is longer than log2(n)
    self.size[a] += self.size[b]
    self.smallest[a] = min(self.smallest[a], self.smallest[b])
    return True
