"""A list of pairs of pages that grows without the GIL. A pair is an integer."""

from cpython cimport array
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc


cdef struct PairList:
    uint64_t* pairs
    Py_ssize_t count
    Py_ssize_t room


cdef inline void append(PairList* these, uint64_t pair) noexcept nogil:
    """Count it in any case: if there are more than there is room for, there was no memory."""
    cdef uint64_t* larger
    if these.count == these.room:
        larger = <uint64_t*>realloc(these.pairs, (2 * these.room + 64) * sizeof(uint64_t))
        if larger != NULL:
            these.pairs = larger
            these.room = 2 * these.room + 64
    if these.count < these.room:
        these.pairs[these.count] = pair
    these.count += 1


cdef inline bint complete(const PairList* these) noexcept nogil:
    return these.count <= these.room


cdef inline array.array taken(PairList* these, array.array like):
    """As an array of the kind of another one. The list is empty then."""
    cdef array.array result
    cdef Py_ssize_t i
    try:
        if not complete(these):
            raise MemoryError(f"no memory for {these.count} pairs")
        result = array.clone(like, these.count, zero=False)
        for i in range(these.count):
            result.data.as_ulonglongs[i] = these.pairs[i]
    finally:
        free(these.pairs)
        these.pairs = NULL
        these.count = these.room = 0
    return result
