"""Sliding window minima: each window of w consecutive keys picks its smallest."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from "window_minima.h":
    enum:
        MARGIN
        SHORT_WINDOW
    ctypedef struct Windows:
        uint64_t* keys
        uint64_t* scratch
        Py_ssize_t n, w
        bint robust
        Py_ssize_t next, pick, count
        uint32_t* picks
        uint32_t* firsts
        void* memory


cdef int allocate(Windows* windows, Py_ssize_t capacity, Py_ssize_t w, bint robust) except -1
cdef void release(Windows* windows) noexcept nogil
cdef void decide(Windows* windows) noexcept nogil
cdef bint decide_among(Windows* windows, const uint32_t* places, Py_ssize_t count) noexcept nogil
cdef Py_ssize_t shift(Windows* windows) noexcept nogil
