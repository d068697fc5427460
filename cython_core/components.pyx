"""Which members hang together, when all that is known is pairs: union-find."""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport kind

ctypedef fused member:
    uint32_t
    uint64_t


cdef class UnionFind:
    """The members 0 … n-1, each alone until it is joined.

    A component goes by its smallest member, so that no answer depends on the order of the joins. An instance is for one
    thread at a time.
    """

    cdef uint32_t n
    cdef uint32_t* parent
    cdef uint32_t* size  # of the component, at its root
    cdef uint32_t* smallest  # member of the component, at its root

    def __cinit__(self, n):
        if not isinstance(n, int):
            raise TypeError(f"UnionFind() wants an int, got {type(n).__name__}")
        if not 0 <= n <= UINT32_MAX:
            raise ValueError(f"UnionFind() wants 0 to {UINT32_MAX} members, got {n}")
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
        """Join the components of a and b; False when they were one already."""
        return _join(self, self._member(a), self._member(b))

    def join_all(self, left, right) -> int:
        """Join left[i] with right[i] for every i; how many of the pairs joined two components.

        Two arrays of one length and one typecode, 'I' or 'Q'. A member out of range is refused before any is joined.
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
                "join_all() wants two arrays of unsigned integers of one typecode, 'I' or 'Q', "
                f"got {kind(left)} and {kind(right)}"
            ) from None
        return self._join_all(left64, right64) if left32 is None else self._join_all(left32, right32)

    def find(self, a) -> int:
        """The smallest member of the component of a."""
        return self.smallest[_root(self, self._member(a))]

    def labels(self) -> array.array:
        """For each member the smallest member of its component; typecode 'I'."""
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
            raise ValueError(f"there are {self.n} members, and {a} is not one of them")
        return a

    cdef Py_ssize_t _join_all(self, const member[::1] left, const member[::1] right) except -1:
        cdef Py_ssize_t i, joined = 0, count = left.shape[0]
        cdef member largest = 0
        if count != right.shape[0]:
            raise ValueError(f"join_all() wants two arrays of one length, got {count} and {right.shape[0]}")
        with nogil:
            for i in range(count):
                largest = max(largest, left[i], right[i])
            if largest < self.n:
                for i in range(count):
                    joined += _join(self, <uint32_t>left[i], <uint32_t>right[i])
        if count and largest >= self.n:
            raise ValueError(f"there are {self.n} members, and {largest} is not one of them")
        return joined


cdef inline uint32_t _root(UnionFind self, uint32_t a) noexcept nogil:
    """Path halving: every second step on the way up is pointed past its parent."""
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
    self.parent[b] = a  # the smaller under the larger, so that no path grows beyond log2(n)
    self.size[a] += self.size[b]
    self.smallest[a] = min(self.smallest[a], self.smallest[b])
    return True
