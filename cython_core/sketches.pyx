"""Sets of shingles and Broder's sketches of them: MOD_m, MIN_s, and V_i, which is MOD_{2^i} scaled to the page's size.

Shingles are uniform over the 64-bit integers, so the shingles that are 0 mod m, or the smallest, are a random sample.
"""

import array

from cpython cimport array
from cpython.number cimport PyNumber_Index
from libc.stdint cimport UINT64_MAX, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from opensearch_winnow.cython_core.arrays cimport hashes

cdef array.array EMPTY = array.array("Q")

cdef enum:
    DIGIT = 8  # bits that are sorted at a time
    DIGITS = 1 << DIGIT
    MAX_INSERTION_SORT = 32  # values; up to here insertion sort alone is the fastest
    MAX_MOVES_PER_VALUE = 8  # on average; if insertion sort needs more, the values are not uniform hashes


def distinct(shingles) -> array.array:
    """Return the set of `shingles`: sorted, without repeats (typecode 'Q')."""
    return _set_of(hashes(shingles, "distinct"), 1)


def mod_sketch(shingles, modulus) -> array.array:
    """Return the MOD_m sketch: the distinct shingles that are 0 mod `modulus`, sorted (typecode 'Q').

    It samples one shingle in m and grows with the page, so it estimates both resemblance and containment. The sketch
    for a multiple of m is the sketch of the sketch for m.
    """
    modulus = PyNumber_Index(modulus)
    if not 1 <= modulus < 2**64:
        raise ValueError(f"mod_sketch() expects a modulus from 1 to 2**64 - 1, got {modulus}")
    return _set_of(hashes(shingles, "mod_sketch"), modulus)


def min_sketch(shingles, Py_ssize_t size) -> array.array:
    """Return the MIN_s sketch: the `size` smallest distinct shingles, or all if there are fewer (typecode 'Q').

    It is a sample of fixed size, which estimates resemblance only.
    """
    if size < 1:
        raise ValueError(f"min_sketch() expects a size of at least 1, got {size}")
    cdef array.array smallest = _set_of(hashes(shingles, "min_sketch"), 1)
    if len(smallest) > size:
        array.resize(smallest, size)
    return smallest


def sketch_scale(Py_ssize_t count) -> int:
    """Return the i of V_i for a page of `count` distinct shingles: 100 * 2**i <= count < 100 * 2**(i + 1); 0 below 100.

    V_i is mod_sketch(shingles, 2**i) and has 100 to 200 shingles for every size of page. Two pages are compared at the
    larger of their scales.
    """
    if count < 0:
        raise ValueError(f"sketch_scale() expects a number of shingles, got {count}")
    cdef int i = 0
    while count >> (i + 1) >= 100:
        i += 1
    return i


cdef bint _is_set(const uint64_t* values, Py_ssize_t n) noexcept nogil:
    """Return whether the values are sorted and without repeats."""
    cdef Py_ssize_t i
    for i in range(1, n):
        if values[i - 1] >= values[i]:
            return False
    return True


cdef array.array _set_of(const uint64_t[::1] shingles, uint64_t modulus):
    """Return the multiples of `modulus`, sorted and without repeats."""
    cdef Py_ssize_t n = shingles.shape[0]
    cdef array.array result = array.clone(EMPTY, n, zero=False)
    if n == 0:
        return result
    cdef uint64_t* values = <uint64_t*>result.data.as_ulonglongs
    cdef uint64_t* spare
    with nogil:
        n = multiples(&shingles[0], n, modulus, values)
        if not _is_set(values, n):
            spare = <uint64_t*>malloc(n * sizeof(uint64_t))
            if spare == NULL:
                raise MemoryError(f"no memory to sort {n} shingles")
            n = make_set(values, n, spare)
            free(spare)
    array.resize(result, n)
    return result


cdef Py_ssize_t make_set(uint64_t* values, Py_ssize_t n, uint64_t* spare) noexcept nogil:
    """Sort `n` values, remove repeats, and return the number that is left. `spare` has room for `n` values."""
    _sort(values, spare, n)
    return _without_repeats(values, n)


cdef Py_ssize_t multiples(const uint64_t* source, Py_ssize_t n, uint64_t modulus, uint64_t* target) noexcept nogil:
    """Write the multiples of `modulus` to `target`, which has room for `n` values, and return their number."""
    cdef Py_ssize_t i, kept = 0
    if modulus & (modulus - 1) == 0:  # a power of two, as for V_i, needs no division
        for i in range(n):
            target[kept] = source[i]
            kept += source[i] & (modulus - 1) == 0
    else:
        for i in range(n):
            target[kept] = source[i]
            kept += source[i] % modulus == 0
    return kept


cdef Py_ssize_t _without_repeats(uint64_t* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, kept = 1
    cdef uint64_t value
    for i in range(1, n):
        value = values[i]
        values[kept] = value
        kept += value != values[kept - 1]
    return kept


cdef void _sort(uint64_t* values, uint64_t* spare, Py_ssize_t n) noexcept nogil:
    """Radix sort by as many top bits as separate all but a few of n uniform hashes; insertion sort does the rest.

    Values that are not uniform hashes, such as pairs of pages, are sorted by all the bits in which they differ, so the
    time is linear for every input.
    """
    cdef uint64_t differing = 0, top = UINT64_MAX
    cdef Py_ssize_t i
    if n > MAX_INSERTION_SORT:
        for i in range(n):
            differing |= values[i] ^ values[0]
        if differing >> 63:
            top <<= 64 - (2 if n >> 16 == 0 else 4 if n >> 32 == 0 else 8) * 8
        _radix_sort(values, spare, n, differing & top)
    if not _insertion_sort(values, n):
        _radix_sort(values, spare, n, differing)


cdef void _radix_sort(uint64_t* values, uint64_t* spare, Py_ssize_t n, uint64_t bits) noexcept nogil:
    """Sort by these bits, a digit of DIGIT bits at a time; digits with none of these bits are skipped."""
    cdef Py_ssize_t place[DIGITS]
    cdef Py_ssize_t i, count, total
    cdef uint64_t digit
    cdef uint64_t* source = values
    cdef int shift = 0
    while bits >> shift:
        while not (bits >> shift) & 1:
            shift += 1
        memset(place, 0, sizeof(place))
        for i in range(n):
            place[(source[i] >> shift) & (DIGITS - 1)] += 1
        total = 0
        for i in range(DIGITS):
            count = place[i]
            place[i] = total
            total += count
        for i in range(n):
            digit = (source[i] >> shift) & (DIGITS - 1)
            spare[place[digit]] = source[i]
            place[digit] += 1
        source, spare = spare, source
        shift += DIGIT
        if shift > 63:
            break
    if source != values:
        memcpy(values, source, n * sizeof(uint64_t))


cdef bint _insertion_sort(uint64_t* values, Py_ssize_t n) noexcept nogil:
    """Sort nearly sorted values; return False, with the values in some order, if that takes too many moves."""
    cdef Py_ssize_t i, j, moves = MAX_MOVES_PER_VALUE * n + MAX_INSERTION_SORT * MAX_INSERTION_SORT
    cdef uint64_t value
    for i in range(1, n):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        moves -= i - j
        if moves < 0:
            return False
    return True
