"""Sets of values as sorted arrays: how much two of them share, and what one has alone."""

import array

from cpython cimport array
from libc.math cimport NAN
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.string cimport memcpy

from opensearch_winnow.cython_core.arrays cimport hashes, page_numbers

cdef array.array EMPTY = array.array("Q")
cdef array.array SHARES = array.array("d")

# How many times longer the longer array has to be before searching it for each value of the shorter one is cheaper
# than reading both: measured, the two cost the same at 8 (24 ns a value of the shorter one).
cdef enum:
    GALLOP = 8


def overlap(a, b) -> int:
    """Count the values that two arrays of 64-bit unsigned integers share; each sorted and without repeats."""
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
    """The resemblance of each pair of sets ('d'): what both have, of what either has; not a number if one has nothing.

    The set of number i is sorted, without repeats, and lies in `values` ('Q') from `starts[i]` ('Q') on, `counts[i]`
    ('I') of them. A pair is an integer: a number, and above 32 bits another.
    """
    cdef const uint64_t[::1] pair = hashes(pairs, "pair_resemblances")
    cdef const uint64_t[::1] value = hashes(values, "pair_resemblances")
    cdef const uint64_t[::1] start = hashes(starts, "pair_resemblances")
    cdef const uint32_t[::1] count = page_numbers(counts, "pair_resemblances")
    cdef Py_ssize_t i, m, n, both
    cdef uint64_t a, b, sets = <uint64_t>start.shape[0]
    cdef array.array result = array.clone(SHARES, pair.shape[0], zero=False)
    if count.shape[0] != start.shape[0]:
        raise ValueError(f"pair_resemblances() wants a count for each of {sets} starts, got {count.shape[0]}")
    for i in range(start.shape[0]):
        if start[i] > <uint64_t>value.shape[0] or count[i] > <uint64_t>value.shape[0] - start[i]:
            raise ValueError(f"pair_resemblances() has {value.shape[0]} values, and set {i} goes beyond")
    for i in range(pair.shape[0]):
        if max(pair[i] >> 32, pair[i] & UINT32_MAX) >= sets:
            raise ValueError(f"there are {sets} sets, and pair {pair[i] >> 32}, {pair[i] & UINT32_MAX} is not of them")
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


def without(a, b) -> array.array:
    """The values of the first array that are not in the second, sorted; each array as for overlap(). Typecode 'Q'."""
    cdef const uint64_t[::1] left = hashes(a, "without")
    cdef const uint64_t[::1] right = hashes(b, "without")
    cdef Py_ssize_t m = left.shape[0], n = right.shape[0], kept
    cdef array.array result = array.clone(EMPTY, m, zero=False)
    if m == 0:
        return result
    cdef uint64_t* target = <uint64_t*>result.data.as_ulonglongs
    if n == 0:
        memcpy(target, &left[0], m * sizeof(uint64_t))
        return result
    with nogil:
        if n // m >= GALLOP:
            kept = _keep_missing(&left[0], m, &right[0], n, target)
        elif m // n >= GALLOP:
            kept = _copy_between(&left[0], m, &right[0], n, target)
        else:
            kept = _merge_without(&left[0], m, &right[0], n, target)
    array.resize(result, kept)
    return result


def stretches(values, among) -> list:
    """Where values, in any order, are in a sorted array, as stretches of them: (start, end), each as long as it can be.

    With the k-grams or shingles of a text these are the places of what another text has too.
    """
    cdef const uint64_t[::1] some = hashes(values, "stretches")
    cdef const uint64_t[::1] many = hashes(among, "stretches")
    cdef Py_ssize_t m = some.shape[0], n = many.shape[0], start = 0, end = 0
    cdef list found = []
    if n == 0:
        return found
    while end < m:
        with nogil:
            start = end
            while start < m and not _has(&many[0], n, some[start]):
                start += 1
            end = start
            while end < m and _has(&many[0], n, some[end]):
                end += 1
        if start < end:
            found.append((start, end))
    return found


cdef inline Py_ssize_t _shared(const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n) noexcept nogil:
    """The values of the shorter a that b has."""
    return _gallop(a, m, b, n) if n // m >= GALLOP else _merge(a, m, b, n)


cdef Py_ssize_t _merge(const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n) noexcept nogil:
    """One step a value and no branch to guess: which side is smaller is a coin toss for hashes."""
    cdef Py_ssize_t i = 0, j = 0, shared = 0
    cdef uint64_t x, y
    while i < m and j < n:
        x = a[i]
        y = b[j]
        shared += x == y
        i += x <= y
        j += y <= x
    return shared


cdef Py_ssize_t _merge_without(
    const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n, uint64_t* target
) noexcept nogil:
    """As _merge; what is not to be kept is written over by the next."""
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
    """The first place from `low` on that is not below a value: stride in doubling steps, then halve the last stride."""
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
    """Seek each value of the shorter a."""
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
    """Of the shorter a, the values that b does not have."""
    cdef Py_ssize_t i, at = 0, kept = 0
    for i in range(m):
        at = _seek(b, at, n, a[i])
        target[kept] = a[i]
        kept += at == n or b[at] != a[i]
    return kept


cdef Py_ssize_t _copy_between(
    const uint64_t* a, Py_ssize_t m, const uint64_t* b, Py_ssize_t n, uint64_t* target
) noexcept nogil:
    """All of the longer a but the values of b, which are sought."""
    cdef Py_ssize_t j, at, start = 0, kept = 0
    for j in range(n):
        at = _seek(a, start, m, b[j])
        memcpy(target + kept, a + start, (at - start) * sizeof(uint64_t))
        kept += at - start
        start = at + (at < m and a[at] == b[j])
    memcpy(target + kept, a + start, (m - start) * sizeof(uint64_t))
    return kept + m - start


cdef bint _has(const uint64_t* b, Py_ssize_t n, uint64_t value) noexcept nogil:
    """Halve without a branch: a guess would be wrong every second time."""
    cdef Py_ssize_t half
    while n > 1:
        half = n // 2
        b += half * (b[half - 1] < value)
        n -= half
    return b[0] == value
