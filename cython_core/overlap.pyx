"""Operations on sets of 64-bit integers as sorted arrays: overlap, Jaccard resemblance, difference, matching runs."""

import array

from cpython cimport array
from libc.math cimport NAN
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.string cimport memcpy

from opensearch_winnow.cython_core.arrays cimport hashes, page_numbers

cdef array.array EMPTY = array.array("Q")
cdef array.array DOUBLES = array.array("d")

# If one array is this many times longer than the other, it is searched for each value of the shorter one instead of
# reading both. Measured: the two cost the same at 8 (24 ns per value of the shorter array).
cdef enum:
    MIN_GALLOP_RATIO = 8


def overlap(a, b) -> int:
    """Count the values that `a` and `b` share; each is sorted and without repeats (typecode 'Q')."""
    cdef const uint64_t[::1] left = hashes(a, "overlap")
    cdef const uint64_t[::1] right = hashes(b, "overlap")
    cdef Py_ssize_t m, n, shared
    if left.shape[0] > right.shape[0]:
        left, right = right, left
    m, n = left.shape[0], right.shape[0]
    if m == 0:
        return 0
    with nogil:
        shared = _shared(&left[0], m, &right[0], n)
    return shared


def pair_resemblances(pairs, values, starts, counts) -> array.array:
    """Return the Jaccard resemblance of each pair of sets ('d'); NaN if one of them is empty.

    Set i is values[starts[i] : starts[i] + counts[i]], sorted and without repeats; `values` and `starts` have typecode
    'Q', `counts` 'I'. A pair of sets is the integer a << 32 | b.
    """
    cdef const uint64_t[::1] pair = hashes(pairs, "pair_resemblances")
    cdef const uint64_t[::1] value = hashes(values, "pair_resemblances")
    cdef const uint64_t[::1] start = hashes(starts, "pair_resemblances")
    cdef const uint32_t[::1] count = page_numbers(counts, "pair_resemblances")
    cdef Py_ssize_t i, m, n, both
    cdef uint64_t a, b, sets = <uint64_t>start.shape[0]
    cdef array.array result = array.clone(DOUBLES, pair.shape[0], zero=False)
    if count.shape[0] != start.shape[0]:
        raise ValueError(f"pair_resemblances() expects a count for each of {sets} starts, got {count.shape[0]}")
    for i in range(start.shape[0]):
        if start[i] > <uint64_t>value.shape[0] or count[i] > <uint64_t>value.shape[0] - start[i]:
            raise ValueError(f"pair_resemblances() has {value.shape[0]} values, and set {i} ends beyond them")
    for i in range(pair.shape[0]):
        if max(pair[i] >> 32, pair[i] & UINT32_MAX) >= sets:
            raise ValueError(f"the pair {pair[i] >> 32}, {pair[i] & UINT32_MAX} is not of the {sets} sets")
    with nogil:
        for i in range(pair.shape[0]):
            a = pair[i] >> 32
            b = pair[i] & UINT32_MAX
            m = count[a]
            n = count[b]
            if m == 0 or n == 0:
                result.data.as_doubles[i] = NAN
                continue
            if m > n:
                a, b = b, a
                m, n = n, m
            both = _shared(&value[start[a]], m, &value[start[b]], n)
            result.data.as_doubles[i] = <double>both / (m + n - both)
    return result


def difference(a, b) -> array.array:
    """Return the values of `a` that are not in `b`, sorted (typecode 'Q'); both arrays as for overlap()."""
    cdef const uint64_t[::1] left = hashes(a, "difference")
    cdef const uint64_t[::1] right = hashes(b, "difference")
    cdef Py_ssize_t m = left.shape[0], n = right.shape[0], kept
    cdef array.array result = array.clone(EMPTY, m, zero=False)
    if m == 0:
        return result
    cdef uint64_t* target = <uint64_t*>result.data.as_ulonglongs
    if n == 0:
        memcpy(target, &left[0], m * sizeof(uint64_t))
        return result
    with nogil:
        if n // m >= MIN_GALLOP_RATIO:
            kept = _keep_missing(&left[0], m, &right[0], n, target)
        elif m // n >= MIN_GALLOP_RATIO:
            kept = _copy_between(&left[0], m, &right[0], n, target)
        else:
            kept = _merge_difference(&left[0], m, &right[0], n, target)
    array.resize(result, kept)
    return result


def matching_runs(values, known) -> list:
    """Return the maximal runs of consecutive `values` that are all in the sorted array `known`, as (start, end).

    `values` may be in any order. With the k-grams or shingles of a text, these are the parts that `known` covers.
    """
    cdef const uint64_t[::1] some = hashes(values, "matching_runs")
    cdef const uint64_t[::1] many = hashes(known, "matching_runs")
    cdef Py_ssize_t m = some.shape[0], n = many.shape[0], start = 0, end = 0
    cdef list runs = []
    if n == 0:
        return runs
    while end < m:
        with nogil:
            start = end
            while start < m and not _has(&many[0], n, some[start]):
                start += 1
            end = start
            while end < m and _has(&many[0], n, some[end]):
                end += 1
        if start < end:
            runs.append((start, end))
    return runs


cdef inline Py_ssize_t _shared(const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n) noexcept nogil:
    """Count the values of the shorter `a` that `b` has."""
    return _gallop(a, m, b, n) if n // m >= MIN_GALLOP_RATIO else _merge(a, m, b, n)


cdef Py_ssize_t _merge(const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n) noexcept nogil:
    """Count shared values by a merge without branches: which side is smaller is a coin toss for hashes."""
    cdef Py_ssize_t i = 0, j = 0, shared = 0
    cdef uint64_t x, y
    while i < m and j < n:
        x = a[i]
        y = b[j]
        shared += x == y
        i += x <= y
        j += y <= x
    return shared


cdef Py_ssize_t _merge_difference(
    const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n, uint64_t* target
) noexcept nogil:
    """Merge as _merge() does and write the values of `a` alone; the next value overwrites one that `b` has."""
    cdef Py_ssize_t i = 0, j = 0, kept = 0
    cdef uint64_t x, y
    while i < m and j < n:
        x = a[i]
        y = b[j]
        target[kept] = x
        kept += x < y
        i += x <= y
        j += y <= x
    memcpy(target + kept, a + i, (m - i) * sizeof(uint64_t))
    return kept + m - i


cdef Py_ssize_t _seek(const uint64_t* b, Py_ssize_t low, Py_ssize_t n, uint64_t value) noexcept nogil:
    """Return the first index from `low` on whose value is not below `value`: doubling steps, then binary search."""
    cdef Py_ssize_t high = low, step = 1, middle
    while high < n and b[high] < value:
        low = high + 1
        high += step
        step *= 2
    if high > n:
        high = n
    while low < high:
        middle = low + (high - low) // 2
        if b[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t _gallop(const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n) noexcept nogil:
    """Count shared values by seeking each value of the shorter `a` in `b`."""
    cdef Py_ssize_t i, at = 0, shared = 0
    for i in range(m):
        at = _seek(b, at, n, a[i])
        if at == n:
            break
        shared += b[at] == a[i]
    return shared


cdef Py_ssize_t _keep_missing(
    const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n, uint64_t* target
) noexcept nogil:
    """Write the values of the shorter `a` that `b` does not have."""
    cdef Py_ssize_t i, at = 0, kept = 0
    for i in range(m):
        at = _seek(b, at, n, a[i])
        target[kept] = a[i]
        kept += at == n or b[at] != a[i]
    return kept


cdef Py_ssize_t _copy_between(
    const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n, uint64_t* target
) noexcept nogil:
    """Copy the longer `a` without the values of `b`, seeking each of these."""
    cdef Py_ssize_t j, at, start = 0, kept = 0
    for j in range(n):
        at = _seek(a, start, m, b[j])
        memcpy(target + kept, a + start, (at - start) * sizeof(uint64_t))
        kept += at - start
        start = at + (at < m and a[at] == b[j])
    memcpy(target + kept, a + start, (m - start) * sizeof(uint64_t))
    return kept + m - start


cdef bint _has(const uint64_t* b, Py_ssize_t n, uint64_t value) noexcept nogil:
    """Return whether `b` has `value`, by binary search without branches, which would be mispredicted half the time."""
    cdef Py_ssize_t half
    while n > 1:
        half = n // 2
        b += half * (b[half - 1] < value)
        n -= half
    return b[0] == value
