"""Estimates of resemblance, and their standard errors, from the bins in which two packed MinHashes differ."""

from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.math cimport sqrt
from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    # Pages of fewer shingles need twice the margin: their true error is up to 1.7 times the claimed one.
    SHORT_PAGE_SHINGLES = 20


cdef extern from "differing_bins.h" nogil:
    # The number of differing bins; if more than `limit` differ, any number above `limit`.
    Py_ssize_t differing_bins(
        const unsigned char* a, const unsigned char* b, Py_ssize_t size, Py_ssize_t bits, Py_ssize_t limit
    )


cdef inline Py_ssize_t bins_of(Py_ssize_t size, Py_ssize_t bits, str caller) except? -1:
    """Return the number of bins in a packed MinHash of `size` bytes; `caller` is the function that the error names."""
    if bits not in (1, 2, 4, 8, 16):
        raise ValueError(f"{caller}() expects MinHashes of 1, 2, 4, 8 or 16 bits per bin, not {bits}")
    if size > PY_SSIZE_T_MAX // 8 or size * 8 % bits:
        raise ValueError(f"{caller}() expects whole bins of {bits} bits, got {size} bytes")
    return size * 8 // bits


cdef inline double chance(Py_ssize_t bits) noexcept nogil:
    """Return the probability that two different values agree in their packed bits."""
    return 1.0 / (<uint64_t>1 << bits)


cdef inline double resemblance(Py_ssize_t differing, Py_ssize_t bins, Py_ssize_t bits) noexcept nogil:
    """Return the unbiased estimate: the share of equal bins, corrected for chance agreement."""
    return (<double>(bins - differing) / bins - chance(bits)) / (1.0 - chance(bits))


cdef inline double resemblance_error(Py_ssize_t differing, Py_ssize_t bins, Py_ssize_t bits) noexcept nogil:
    return share_error(bins - differing, bins, 1.0) / (1.0 - chance(bits))


cdef inline double share_error(Py_ssize_t x, Py_ssize_t n, double unsampled) noexcept nogil:
    """Return the standard error of the share x / n; see estimates.pyx for the formula."""
    cdef double p = (x + 1.0) / (n + 2.0)
    return sqrt(p * (1.0 - p) / (n + 3.0) * unsampled)


cdef inline Py_ssize_t max_differing_bins(
    Py_ssize_t bins, Py_ssize_t bits, double threshold, double errors
) noexcept nogil:
    """Return the largest number of differing bins whose estimate plus `errors` standard errors reaches the threshold.

    Returns -1 if not even equal MinHashes reach it. The sum falls below the threshold only once as more bins differ,
    whatever `threshold` and `errors` are.
    """
    cdef Py_ssize_t differing
    for differing in range(bins, -1, -1):
        if resemblance(differing, bins, bits) + errors * resemblance_error(differing, bins, bits) >= threshold:
            return differing
    return -1


cdef inline double max_resemblance(uint32_t one, uint32_t other) noexcept nogil:
    """Return the highest resemblance that pages of `one` and `other` shingles can have: one contains all of the other.

    It is a quotient, like an exact resemblance, so rounding does not matter.
    """
    return <double>min(one, other) / max(one, other, <uint32_t>1)
