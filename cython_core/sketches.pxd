from libc.stdint cimport uint64_t

cdef Py_ssize_t make_set(uint64_t* values, Py_ssize_t n, uint64_t* spare) noexcept nogil
cdef Py_ssize_t multiples(const uint64_t* source, Py_ssize_t n, uint64_t modulus, uint64_t* target) noexcept nogil
