"""How two packed MinHashes differ, and what that says of the resemblance of their pages."""

from libc.math cimport sqrt
from libc.stdint cimport uint64_t


cdef extern from "differing_bins.h" nogil:
    # If more than `most` bins differ, any number above it.
    Py_ssize_t differing_bins(
        const unsigned char* a, const unsigned char* b, Py_ssize_t size, Py_ssize_t bits, Py_ssize_t most
    )


cdef inline Py_ssize_t bins_of(Py_ssize_t size, Py_ssize_t bits, str caller) except -1:
    """How many bins there are in so many bytes; `caller` is who wants to know."""
    if bits not in (1, 2, 4, 8, 16):
        raise ValueError(f"{caller}() knows MinHashes of 1, 2, 4, 8 or 16 bits a bin, not {bits}")
    if size * 8 % bits:
        raise ValueError(f"{caller}() wants whole bins of {bits} bits, got {size} bytes")
    return size * 8 // bits


cdef inline double chance(Py_ssize_t bits) noexcept nogil:
    """That two different values are equal in their packed bits."""
    return 1.0 / (<uint64_t>1 << bits)


cdef inline double resemblance(Py_ssize_t differing, Py_ssize_t bins, Py_ssize_t bits) noexcept nogil:
    return (<double>(bins - differing) / bins - chance(bits)) / (1.0 - chance(bits))


cdef inline double resemblance_error(Py_ssize_t differing, Py_ssize_t bins, Py_ssize_t bits) noexcept nogil:
    return share_error(bins - differing, bins, 1.0) / (1.0 - chance(bits))


cdef inline double share_error(Py_ssize_t x, Py_ssize_t n, double left_out) noexcept nogil:
    """The standard error of x / n, as estimates.pyx explains it."""
    cdef double p = (x + 1.0) / (n + 2.0)
    return sqrt(p * (1.0 - p) / (n + 3.0) * left_out)
