"""A list of page pairs, as 64-bit integers, that grows without the GIL."""

from cpython cimport array
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc


cdef struct PairList:
    uint64_t* pairs
    Py_ssize_t count
    Py_ssize_t capacity


cdef inline void append(PairList* self, uint64_t pair) noexcept nogil:
    """Add a pair. Without memory it is only counted: then `count` exceeds `capacity`, and the list is not complete."""
    cdef uint64_t* larger
    if self.count == self.capacity:
        larger = <uint64_t*>realloc(self.pairs, (2 * self.capacity + 64) * sizeof(uint64_t))
        if larger != NULL:
            self.pairs = larger
            self.capacity = 2 * self.capacity + 64
    if self.count < self.capacity:
        self.pairs[self.count] = pair
    self.count += 1


cdef inline bint is_complete(const PairList* self) noexcept nogil:
    return self.count <= self.capacity


cdef inline array.array take_array(PairList* self, array.array like):
    """Return the pairs as an array of the typecode of `like`, and empty the list."""
    cdef array.array result
    cdef Py_ssize_t i
    try:
        if not is_complete(self):
            raise MemoryError(f"no memory for {self.count} pairs")
        result = array.clone(like, self.count, zero=False)
        for i in range(self.count):
            result.data.as_ulonglongs[i] = self.pairs[i]
    finally:
        free(self.pairs)
        self.pairs = NULL
        self.count = self.capacity = 0
    return result
