from libc.stdint cimport uint32_t, uint64_t

from opensearch_winnow.cython_core.canonical_text cimport CanonicalText

cdef enum:
    POWERS = 64  # precomputed; almost every word is shorter

cdef struct Words:
    const void* chars  # of a canonical text
    int kind  # bytes per character
    Py_ssize_t end
    const uint32_t* starts
    Py_ssize_t count

cdef struct Numbers:
    uint64_t key
    uint64_t base
    uint64_t values[256]  # char_value() of the most common characters
    uint64_t powers[POWERS]  # powers of the base

cdef Words words_of(CanonicalText text)
cdef const Numbers* numbers_of(uint64_t key, Numbers* own) noexcept nogil
cdef Py_ssize_t write_shingles(
    const Words* words, Py_ssize_t width, const Numbers* numbers, uint64_t* target
) noexcept nogil
