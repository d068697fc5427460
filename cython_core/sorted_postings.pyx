"""Postings (token, page) as two arrays of the same length, sorted by token and then by page."""

import array
from collections import Counter

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from opensearch_winnow.cython_core.arrays cimport hashes, page_numbers

cdef array.array NO_TOKENS = array.array("Q")
cdef array.array NO_PAGES = array.array("I")

cdef enum:
    DIGIT = 11  # bits that are sorted at a time: the counts of 2,048 digits stay in the first-level cache
    DIGITS = 1 << DIGIT
    MAX_INSERTION_SORT = 32  # postings; up to here insertion sort alone is the fastest
    MAX_MOVES_PER_POSTING = 8  # on average; if insertion sort needs more, the tokens are not uniform hashes


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
    cdef Posting* postings = <Posting*>malloc(2 * n * sizeof(Posting))
    if postings == NULL:
        raise MemoryError(f"no memory to sort {n} postings")
    try:
        with nogil:
            j = 0
            for i in range(m):
                for _ in range(lengths[i]):
                    postings[j] = Posting(source[j], numbers[i])
                    j += 1
            sort_in_place(postings, postings + n, n)
            for j in range(n):  # a token may occur twice on a page
                if j == 0 or postings[j].token != postings[k - 1].token or postings[j].page != postings[k - 1].page:
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
    """Return the postings of all pages but the `dropped` ones, which are sorted."""
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


cdef void sort_in_place(Posting* postings, Posting* spare, Py_ssize_t n) noexcept nogil:
    """Sort by the top bits in which the tokens differ, then by insertion, then each token's pages.

    Tokens that are not uniform hashes are sorted by all their bits, so the time is linear for every input.
    """
    cdef uint64_t differ = 0
    cdef Py_ssize_t i, start = 0
    cdef int top = 64, passes = 0
    for i in range(1, n):
        differ |= postings[i].token ^ postings[0].token
    while top > DIGIT and not differ >> (top - 1):  # bits that all tokens share
        top -= 1
    if n > MAX_INSERTION_SORT:
        passes = 2
        while passes * DIGIT < top and n >> (passes * DIGIT - 2):
            passes += 2
        _sort_bits(postings, spare, n, max(top - passes * DIGIT, 0), passes, False)
    if not _insertion_sort(postings, n):
        _sort_bits(postings, spare, n, 0, 6, False)
    for i in range(1, n + 1):
        if i == n or postings[i].token != postings[start].token:
            _sort_pages(postings + start, spare, i - start)
            start = i


cdef void _sort_bits(
    Posting* postings, Posting* spare, Py_ssize_t n, int shift, int passes, bint by_page
) noexcept nogil:
    """Sort by some digits from `shift` up, of the token or of the page. Postings of equal digits keep their order.

    `passes` is even, because each pass swaps the two blocks.
    """
    cdef uint32_t place[DIGITS]
    cdef uint32_t count, total, digit
    cdef Py_ssize_t i
    cdef uint64_t key
    for _ in range(passes):
        memset(place, 0, sizeof(place))
        for i in range(n):
            key = postings[i].page if by_page else postings[i].token
            place[(key >> shift) & (DIGITS - 1)] += 1
        total = 0
        for i in range(DIGITS):
            count = place[i]
            place[i] = total
            total += count
        for i in range(n):
            key = postings[i].page if by_page else postings[i].token
            digit = <uint32_t>(key >> shift) & (DIGITS - 1)
            spare[place[digit]] = postings[i]
            place[digit] += 1
        postings, spare = spare, postings
        shift += DIGIT


cdef bint _insertion_sort(Posting* postings, Py_ssize_t n) noexcept nogil:
    """Sort nearly sorted postings by token; return False, with them in some order, if that takes too many moves."""
    cdef Py_ssize_t i, j, moves = MAX_MOVES_PER_POSTING * n + MAX_INSERTION_SORT * MAX_INSERTION_SORT
    cdef Posting posting
    for i in range(1, n):
        posting = postings[i]
        j = i
        while j > 0 and postings[j - 1].token > posting.token:
            postings[j] = postings[j - 1]
            j -= 1
        postings[j] = posting
        moves -= i - j
        if moves < 0:
            return False
    return True


cdef void _sort_pages(Posting* postings, Posting* spare, Py_ssize_t n) noexcept nogil:
    """Sort postings of one token by page. Often they are sorted: pages come in the order of a crawl."""
    cdef Py_ssize_t i, j
    cdef uint32_t page
    for i in range(1, n):
        if postings[i - 1].page > postings[i].page:
            break
    else:
        return
    if n > MAX_INSERTION_SORT:
        _sort_bits(postings, spare, n, 0, 4, True)
        return
    for i in range(1, n):
        page = postings[i].page
        j = i
        while j > 0 and postings[j - 1].page > page:
            postings[j].page = postings[j - 1].page
            j -= 1
        postings[j].page = page


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
