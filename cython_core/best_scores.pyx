"""Selects scored pages: the pages with the highest scores, or the pages of a given set."""

import array

from cpython cimport array
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from opensearch_winnow.cython_core.arrays cimport kind, page_numbers

cdef array.array NUMBERS = array.array("I")
cdef array.array SCORES = array.array("f")


def top_scores(pages, scores, count) -> tuple[array.array, array.array, array.array, float]:
    """Return the pages with the `count` highest scores, with all ties for the last place.

    Returns the pages above the `count`-th highest score, their scores, all pages that have exactly this score, and the
    score itself. `count` is at least 1 and at most the number of scores.
    """
    cdef const uint32_t[::1] page = page_numbers(pages, "top_scores")
    cdef const float[::1] score = _scores(scores, page, "top_scores")
    cdef Py_ssize_t n = page.shape[0], wanted = count, i, above = 0, tied = 0
    if not 1 <= wanted <= n:
        raise ValueError(f"top_scores() expects a count from 1 to {n}, the number of scores, not {count}")
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
                    high.data.as_uints[above] = page[i]
                    high_scores.data.as_floats[above] = score[i]
                    above += 1
                elif score[i] == limit:
                    equal.data.as_uints[tied] = page[i]
                    tied += 1
    finally:
        free(copy)
    array.resize(high, above)
    array.resize(high_scores, above)
    array.resize(equal, tied)
    return high, high_scores, equal, limit


def filter_pages(pages, scores, selected, *, bint exclude=False) -> tuple[array.array, array.array]:
    """Return the pages that are in `selected`, with their scores; with `exclude`, the pages that are not.

    `pages` and `selected` are in ascending order.
    """
    cdef const uint32_t[::1] page = page_numbers(pages, "filter_pages")
    cdef const float[::1] score = _scores(scores, page, "filter_pages")
    cdef const uint32_t[::1] other = page_numbers(selected, "filter_pages")
    cdef Py_ssize_t n = page.shape[0], m = other.shape[0], i, j = 0, count = 0
    cdef array.array result = array.clone(NUMBERS, n, zero=False)
    cdef array.array result_scores = array.clone(SCORES, n, zero=False)
    with nogil:
        for i in range(n):
            while j < m and other[j] < page[i]:
                j += 1
            if (j < m and other[j] == page[i]) != exclude:
                result.data.as_uints[count] = page[i]
                result_scores.data.as_floats[count] = score[i]
                count += 1
    array.resize(result, count)
    array.resize(result_scores, count)
    return result, result_scores


cdef float nth(float* scores, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """Return the score at `rank` in descending order, by quickselect; `scores` is reordered."""
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


cdef const float[::1] _scores(object values, const uint32_t[::1] pages, str caller):
    cdef const float[::1] scores
    try:
        if values is None:
            raise TypeError
        scores = values
    except (TypeError, ValueError, BufferError):
        raise TypeError(f"{caller}() expects an array of scores (typecode 'f'), got {kind(values)}") from None
    if scores.shape[0] != pages.shape[0]:
        raise ValueError(f"{caller}() expects a score for each page: {scores.shape[0]} for {pages.shape[0]}")
    return scores
