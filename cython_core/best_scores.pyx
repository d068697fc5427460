"""The pages with the highest scores, of many."""

import array

from cpython cimport array
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from opensearch_winnow.cython_core.arrays cimport kind, page_numbers

cdef array.array NUMBERS = array.array("I")
cdef array.array SCORES = array.array("f")


def best(numbers, scores, count) -> tuple[array.array, array.array, array.array, float]:
    """Pages and scores of those above the `count`-th highest score; all pages that have this score; and it.

    `count` is at least 1 and at most the number of scores.
    """
    cdef const uint32_t[::1] number = page_numbers(numbers, "best")
    cdef const float[::1] score = _scores(scores, number, "best")
    cdef Py_ssize_t n = number.shape[0], wanted = count, i, above = 0, tied = 0
    if not 1 <= wanted <= n:
        raise ValueError(f"best() wants from 1 to {n} of {n} scores, not {count}")
    cdef float limit
    cdef array.array high = array.clone(NUMBERS, wanted, zero=False)
    cdef array.array high_scores = array.clone(SCORES, wanted, zero=False)
    cdef array.array equal = array.clone(NUMBERS, n, zero=False)
    cdef float* copy = <float*>malloc(n * sizeof(float))
    if copy == NULL:
        raise MemoryError(f"no memory for {n} scores")
    try:
        memcpy(copy, &score[0], n * sizeof(float))
        with nogil:
            limit = nth(copy, n, wanted - 1)
            for i in range(n):
                if score[i] > limit:
                    high.data.as_uints[above] = number[i]
                    high_scores.data.as_floats[above] = score[i]
                    above += 1
                elif score[i] == limit:
                    equal.data.as_uints[tied] = number[i]
                    tied += 1
    finally:
        free(copy)
    array.resize(high, above)
    array.resize(high_scores, above)
    array.resize(equal, tied)
    return high, high_scores, equal, limit


def among(numbers, scores, some, *, bint left_out=False) -> tuple[array.array, array.array]:
    """The pages that are among some others, with their scores; or those that are not. All numbers are in order."""
    cdef const uint32_t[::1] number = page_numbers(numbers, "among")
    cdef const float[::1] score = _scores(scores, number, "among")
    cdef const uint32_t[::1] other = page_numbers(some, "among")
    cdef Py_ssize_t n = number.shape[0], m = other.shape[0], i, j = 0, count = 0
    cdef array.array kept = array.clone(NUMBERS, n, zero=False)
    cdef array.array kept_scores = array.clone(SCORES, n, zero=False)
    with nogil:
        for i in range(n):
            while j < m and other[j] < number[i]:
                j += 1
            if (j < m and other[j] == number[i]) != left_out:
                kept.data.as_uints[count] = number[i]
                kept_scores.data.as_floats[count] = score[i]
                count += 1
    array.resize(kept, count)
    array.resize(kept_scores, count)
    return kept, kept_scores


cdef float nth(float* scores, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """The one that would be at `rank` if they were sorted, the highest first; they are brought out of order."""
    cdef Py_ssize_t low = 0, high = n - 1, i, j, middle
    cdef float pivot
    while low < high:
        middle = low + (high - low) // 2
        pivot = median(scores[low], scores[middle], scores[high])
        i, j = low, high
        while i <= j:
            while scores[i] > pivot:
                i += 1
            while scores[j] < pivot:
                j -= 1
            if i <= j:
                scores[i], scores[j] = scores[j], scores[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return scores[rank]


cdef inline float median(float a, float b, float c) noexcept nogil:
    return max(min(a, b), min(max(a, b), c))


cdef const float[::1] _scores(object values, const uint32_t[::1] numbers, str caller):
    cdef const float[::1] scores
    try:
        if values is None:
            raise TypeError
        scores = values
    except (TypeError, ValueError, BufferError):
        raise TypeError(f"{caller}() wants an array of scores (typecode 'f'), got {kind(values)}") from None
    if scores.shape[0] != numbers.shape[0]:
        raise ValueError(f"{caller}() wants a score for each page: {scores.shape[0]} for {numbers.shape[0]}")
    return scores
