"""Resemblance and containment of two pages from their sketches, each with its standard error.

An estimate is the share x / n: of a sample of n shingles, two pages have x in common. Its error is the standard
deviation of the true share's posterior under a uniform prior: sqrt(p (1 - p) / (n + 3)) with p = (x + 1) / (n + 2). For
large n that is the usual sqrt(p (1 - p) / n). But it is not 0 if all or none are in common: then three errors are
3 / n, the rule of three. MOD_m and MIN_s sample without replacement, so their errors are multiplied by the square root
of the share of shingles that was not sampled, and an exact result has the error 0. An empty sample gives the value 0
with the error 1.
"""

import array
from typing import NamedTuple

from cpython cimport array
from cpython.number cimport PyNumber_Index
from libc.stdint cimport uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes, kind
from opensearch_winnow.cython_core.differing_bins cimport (
    bins_of, differing_bins, resemblance, resemblance_error, share_error,
)

cdef array.array EMPTY = array.array("d")


class Estimate(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float


def mod_resemblance(a, b, modulus) -> Estimate:
    """Estimate the resemblance of two pages from their MOD_m sketches `a` and `b`.

    `modulus` is the m of both sketches. If they have different ones, `modulus` is the larger, which must be a multiple
    of the other (2**i for the larger i of two V_i). Only multiples of `modulus` count.
    """
    cdef Py_ssize_t size_a, size_b, shared
    modulus = PyNumber_Index(modulus)
    size_a, size_b, shared = _common(a, b, modulus, "mod_resemblance")
    return _estimate(shared, size_a + size_b - shared, 1.0 - 1.0 / modulus)


def mod_containment(a, b, modulus) -> Estimate:
    """Estimate the containment of page `a` in page `b` from their MOD_m sketches; `modulus` as in mod_resemblance()."""
    cdef Py_ssize_t size_a, _, shared
    modulus = PyNumber_Index(modulus)
    size_a, _, shared = _common(a, b, modulus, "mod_containment")
    return _estimate(shared, size_a, 1.0 - 1.0 / modulus)


def mod_share(Py_ssize_t shared, Py_ssize_t size, modulus) -> Estimate:
    """Estimate a share from counts: `shared` of the `size` shingles in a MOD_m sample are in common."""
    modulus = PyNumber_Index(modulus)
    if modulus < 1:
        raise ValueError(f"mod_share() expects a modulus of 1 or more, got {modulus}")
    if not 0 <= shared <= size:
        raise ValueError(f"mod_share() expects 0 to {size} shared shingles, got {shared}")
    return _estimate(shared, size, 1.0 - 1.0 / modulus)


def min_resemblance(a, b, Py_ssize_t size) -> Estimate:
    """Estimate the resemblance of two pages from their MIN_s sketches, s = `size`.

    The result is exact if both pages have fewer than `size` shingles.
    """
    cdef const uint64_t[::1] left = hashes(a, "min_resemblance")
    cdef const uint64_t[::1] right = hashes(b, "min_resemblance")
    cdef Py_ssize_t m = left.shape[0], n = right.shape[0], i = 0, j = 0, taken = 0, shared = 0
    if size < max(m, n, 1):
        raise ValueError(f"min_resemblance() expects sketches of at most {size} shingles, got {m} and {n}")
    cdef bint whole = m < size and n < size  # both sketches hold all shingles of their pages
    cdef Py_ssize_t limit = m + n if whole else size
    cdef uint64_t last = 0
    with nogil:
        # Merge to the smallest values of the union; when one sketch ends, the other may go on.
        while taken < limit and (i < m or j < n):
            if j == n or (i < m and left[i] < right[j]):
                last = left[i]
                i += 1
            else:
                last = right[j]
                if i < m and left[i] == last:
                    shared += 1
                    i += 1
                j += 1
            taken += 1
    # Hashes are uniform: the share of shingles that was not sampled is the share of all hashes above the last one.
    return _estimate(shared, taken, 0.0 if whole else 1.0 - <double>last / 2.0**64)


def minhash_resemblance(bytes a not None, bytes b not None, Py_ssize_t bits=4) -> Estimate:
    """Estimate the resemblance of two pages from their packed MinHashes.

    The value is unbiased and therefore not clipped: for pages that share nothing it is as often below 0 as above, by at
    most 1 / (2**bits - 1). The error assumes independent bins. With 1024 bins the true error is three quarters of it
    for pages of 100 to 1,000 shingles, equal to it for 20 and for 10,000, and a third larger for 5.
    """
    cdef Py_ssize_t size = len(a), bins = bins_of(size, bits, "minhash_resemblance")
    cdef const unsigned char* left = a
    cdef const unsigned char* right = b
    cdef Py_ssize_t differing
    if len(b) != size:
        raise ValueError(f"minhash_resemblance() expects two MinHashes of the same size, got {size} and {len(b)} bytes")
    if bins == 0:
        return Estimate(0.0, 1.0)
    with nogil:
        differing = differing_bins(left, right, size, bits, bins)
    return Estimate(resemblance(differing, bins, bits), resemblance_error(differing, bins, bits))


def minhash_resemblances(bytes a not None, many, Py_ssize_t bits=4) -> array.array:
    """Return the values of minhash_resemblance() of `a` and each MinHash in `many` (typecode 'd').

    `many` holds packed MinHashes of the size of `a`, one after another.
    """
    if not isinstance(many, (bytes, bytearray, memoryview)):
        raise TypeError(f"minhash_resemblances() expects MinHashes as bytes, got {kind(many)}")
    cdef const unsigned char[::1] others = many
    cdef Py_ssize_t size = len(a), bins = bins_of(size, bits, "minhash_resemblances")
    cdef const unsigned char* left = a
    cdef Py_ssize_t i, count = others.shape[0] // size if size else 0
    if count * size != others.shape[0]:
        raise ValueError(f"minhash_resemblances() expects MinHashes of {size} bytes each, got {others.shape[0]} bytes")
    cdef array.array result = array.clone(EMPTY, count, zero=False)
    cdef double* values = result.data.as_doubles
    with nogil:
        for i in range(count):
            values[i] = resemblance(differing_bins(left, &others[i * size], size, bits, bins), bins, bits)
    return result


cdef object _estimate(Py_ssize_t x, Py_ssize_t n, double unsampled):
    if n == 0:
        return Estimate(0.0, 1.0)
    return Estimate(<double>x / n, share_error(x, n, unsampled))


cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) _common(object a, object b, object modulus, str caller) except *:
    """Count the multiples of `modulus` in `a`, in `b`, and in both."""
    if not 1 <= modulus < 2**64:
        raise ValueError(f"{caller}() expects a modulus from 1 to 2**64 - 1, got {modulus}")
    cdef const uint64_t[::1] left = hashes(a, caller)
    cdef const uint64_t[::1] right = hashes(b, caller)
    cdef Py_ssize_t m = left.shape[0], n = right.shape[0], i, j, size_a = 0, size_b = 0, shared = 0
    cdef uint64_t x, y, divisor = modulus
    with nogil:
        for i in range(m):
            size_a += left[i] % divisor == 0
        for j in range(n):
            size_b += right[j] % divisor == 0
        i = j = 0
        while i < m and j < n:
            x = left[i]
            y = right[j]
            if x == y:
                shared += x % divisor == 0
            i += x <= y
            j += y <= x
    return size_a, size_b, shared
