"""Postings (token, page) as two arrays of the same length, sorted by token and then by page."""

import array
from collections import Counter

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort

from opensearch_winnow.cython_core.arrays cimport hashes, page_numbers

cdef array.array NO_TOKENS = array.array("Q")
cdef array.array NO_PAGES = array.array("I")

cdef enum:
    BUCKET_BITS = 12  # the top bits of a token; a bucket of a large batch fits into the first cache
    BUCKETS = 1 << BUCKET_BITS


cdef struct Posting:
    uint64_t token
    uint32_t page


def sorted_postings(tokens, counts, pages) -> tuple[array.array, array.array]:
    """Return the sorted postings of `pages`, without repeats.

    `tokens` are the tokens of all pages, one page after another: the first counts[0] are those of pages[0], and so on.
    """
    cdef const uint64_t[::1] source = hashes(tokens, "sorted_postings")
    cdef const uint32_t[::1] lengths = page_numbers(counts, "sorted_postings")
    cdef const uint32_t[::1] numbers = page_numbers(pages, "sorted_postings")
    cdef Py_ssize_t n = source.shape[0], m = lengths.shape[0], i, j, k = 0, total = 0
    for i in range(m):
        total += lengths[i]
    if numbers.shape[0] != m or total != n:
        raise ValueError(f"sorted_postings() expects a page for each count, and {total} tokens in total, not {n}")
    if n == 0:
        return array.array("Q"), array.array("I")
    cdef Posting* postings = <Posting*>malloc(n * sizeof(Posting))
    if postings == NULL:
        raise MemoryError(f"no memory to sort {n} postings")
    try:
        with nogil:
            _sort(source, lengths, numbers, postings)
            for j in range(n):  # a token may occur twice on a page
                if j == 0 or _compare(&postings[j], &postings[k - 1]):
                    postings[k] = postings[j]
                    k += 1
        return _arrays(postings, k)
    finally:
        free(postings)


def merge_postings(tokens, pages, more_tokens, more_pages) -> tuple[array.array, array.array]:
    """Merge two lists of postings into one, without repeats."""
    cdef const uint64_t[::1] a = hashes(tokens, "merge_postings")
    cdef const uint32_t[::1] p = _pages(pages, a, "merge_postings")
    cdef const uint64_t[::1] b = hashes(more_tokens, "merge_postings")
    cdef const uint32_t[::1] q = _pages(more_pages, b, "merge_postings")
    cdef Py_ssize_t m = a.shape[0], n = b.shape[0], i = 0, j = 0, k = 0
    cdef array.array result_tokens = array.clone(NO_TOKENS, m + n, zero=False)
    cdef array.array result_pages = array.clone(NO_PAGES, m + n, zero=False)
    cdef uint64_t* token = <uint64_t*>result_tokens.data.as_ulonglongs
    cdef uint32_t* page = <uint32_t*>result_pages.data.as_uints
    cdef bint left, right
    with nogil:
        while i < m or j < n:
            left = j == n or (i < m and (a[i] < b[j] or (a[i] == b[j] and p[i] <= q[j])))
            right = i == m or (j < n and (b[j] < a[i] or (b[j] == a[i] and q[j] <= p[i])))
            token[k] = a[i] if left else b[j]
            page[k] = p[i] if left else q[j]
            k += 1
            i += left
            j += right
    array.resize(result_tokens, k)
    array.resize(result_pages, k)
    return result_tokens, result_pages


def drop_pages(tokens, pages, dropped) -> tuple[array.array, array.array]:
    """Return the postings without those of the `dropped` pages, which are sorted."""
    cdef const uint64_t[::1] a = hashes(tokens, "drop_pages")
    cdef const uint32_t[::1] p = _pages(pages, a, "drop_pages")
    cdef const uint32_t[::1] d = page_numbers(dropped, "drop_pages")
    cdef Py_ssize_t n = a.shape[0], m = d.shape[0], i, k = 0
    cdef array.array result_tokens = array.clone(NO_TOKENS, n, zero=False)
    cdef array.array result_pages = array.clone(NO_PAGES, n, zero=False)
    cdef uint64_t* token = <uint64_t*>result_tokens.data.as_ulonglongs
    cdef uint32_t* page = <uint32_t*>result_pages.data.as_uints
    with nogil:
        for i in range(n):
            if m == 0 or not _contains(p[i], &d[0], m):
                token[k] = a[i]
                page[k] = p[i]
                k += 1
    array.resize(result_tokens, k)
    array.resize(result_pages, k)
    return result_tokens, result_pages


def document_frequency_histogram(tokens) -> Counter:
    """Count the tokens of each document frequency: {pages that have a token: number of such tokens}."""
    cdef const uint64_t[::1] a = hashes(tokens, "document_frequency_histogram")
    cdef Py_ssize_t n = a.shape[0], i, start = 0, once = 0
    histogram = Counter()
    for i in range(1, n + 1):
        if i == n or a[i] != a[start]:
            if i - start == 1:  # most tokens; faster than updating a Counter
                once += 1
            else:
                histogram[i - start] += 1
            start = i
    if once:
        histogram[1] = once
    return histogram


cdef void _sort(
    const uint64_t[::1] tokens, const uint32_t[::1] counts, const uint32_t[::1] pages, Posting* postings
) noexcept nogil:
    """Write the postings in order: first into buckets by the top bits of their tokens, then sorted in each bucket."""
    cdef Py_ssize_t starts[BUCKETS + 1]
    cdef Py_ssize_t i, j = 0, end, n = tokens.shape[0]
    cdef Posting* place
    for i in range(BUCKETS + 1):
        starts[i] = 0
    for j in range(n):
        starts[(tokens[j] >> (64 - BUCKET_BITS)) + 1] += 1
    for i in range(BUCKETS):
        starts[i + 1] += starts[i]
    j = 0
    for i in range(counts.shape[0]):
        end = j + counts[i]
        while j < end:
            place = &postings[starts[tokens[j] >> (64 - BUCKET_BITS)]]
            place.token, place.page = tokens[j], pages[i]
            starts[tokens[j] >> (64 - BUCKET_BITS)] += 1
            j += 1
    j = 0
    for i in range(BUCKETS):  # each start has become the end of its bucket
        if starts[i] - j > 1:
            qsort(&postings[j], starts[i] - j, sizeof(Posting), _compare)
        j = starts[i]


cdef int _compare(const void* a, const void* b) noexcept nogil:
    cdef const Posting* x = <const Posting*>a
    cdef const Posting* y = <const Posting*>b
    if x.token != y.token:
        return -1 if x.token < y.token else 1
    return (x.page > y.page) - (x.page < y.page)


cdef bint _contains(uint32_t number, const uint32_t* numbers, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t low = 0, high = n, middle
    while low < high:
        middle = low + (high - low) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < n and numbers[low] == number


cdef tuple _arrays(const Posting* postings, Py_ssize_t n):
    cdef array.array tokens = array.clone(NO_TOKENS, n, zero=False)
    cdef array.array pages = array.clone(NO_PAGES, n, zero=False)
    cdef Py_ssize_t i
    for i in range(n):
        tokens.data.as_ulonglongs[i] = postings[i].token
        pages.data.as_uints[i] = postings[i].page
    return tokens, pages


cdef const uint32_t[::1] _pages(object pages, const uint64_t[::1] tokens, str caller):
    cdef const uint32_t[::1] numbers = page_numbers(pages, caller)
    if numbers.shape[0] != tokens.shape[0]:
        raise ValueError(f"{caller}() expects a page for each token: {numbers.shape[0]} for {tokens.shape[0]}")
    return numbers
