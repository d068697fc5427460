from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    MAX_BINS = 65536  # the standard error is .002 there; more bins would only cost more
    SCRATCH_PER_BIN = 12  # bytes that fill_bins() works in

cdef void fill_bins(
    const uint64_t* shingles, Py_ssize_t n, uint64_t* values, uint32_t bins, uint64_t* thrown
) noexcept nogil
cdef void pack_bins(const uint64_t* values, Py_ssize_t n, Py_ssize_t bits, uint8_t* target) noexcept nogil
cdef void hash_bands(const uint64_t* values, Py_ssize_t count, Py_ssize_t rows, uint64_t* target) noexcept nogil
