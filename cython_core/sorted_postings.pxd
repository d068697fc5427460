from libc.stdint cimport uint32_t, uint64_t

cdef struct Posting:
    uint64_t token
    uint32_t page

# `spare` has room for `n` postings.
cdef void sort_in_place(Posting* postings, Posting* spare, Py_ssize_t n) noexcept nogil
