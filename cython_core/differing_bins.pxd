"""How two packed MinHashes differ, and what that says of the resemblance of their pages."""

from libc.math cimport sqrt
from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    # Shingles. Where a page has fewer, the true error is up to 1.7 times the claimed one, and twice as many are clear.
    FEW = 20


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


cdef inline Py_ssize_t most_differing(
    Py_ssize_t bins, Py_ssize_t bits, double threshold, double errors
) noexcept nogil:
    """Of so many bins, with an estimate that reaches the threshold with so many errors added; -1: not even none.

    As more bins differ it does not become true again, whatever the threshold and the number of errors.
    """
    cdef Py_ssize_t differing
    for differing in range(bins, -1, -1):
        if resemblance(differing, bins, bits) + errors * resemblance_error(differing, bins, bits) >= threshold:
            return differing
    return -1


cdef inline double most_alike(uint32_t one, uint32_t other) noexcept nogil:
    """The resemblance of pages of so many shingles, if one is all in the other. A quotient, as an exact resemblance is,
    so that rounding does not matter."""
    return <double>min(one, other) / max(one, other, <uint32_t>1)
