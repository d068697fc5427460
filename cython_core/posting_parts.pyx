"""Postings of a whole crawl: divided into parts by token, sorted and bundled part by part; rows in the order of pages.

A posting takes three 32-bit numbers in an array: the lower and the upper half of its token, and its page.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.hashing cimport mix
from opensearch_winnow.cython_core.sorted_postings cimport Posting, sort_in_place

cdef array.array TOKENS = array.array("Q")
cdef array.array NUMBERS = array.array("I")

cdef enum:
    SIZE = 3  # numbers of a posting
    MAX_PARTS = 65536


def split_postings(tokens, pages, Py_ssize_t parts) -> tuple[array.array, array.array]:
    """Partition postings into `parts` ranges of tokens; return the postings part by part, and each part's size.

    Tokens are hashes, so the parts have similar sizes. Both arrays have typecode 'I'.
    """
    cdef const uint64_t[::1] token = hashes(tokens, "split_postings")
    cdef const uint32_t[::1] page = page_numbers(pages, "split_postings")
    cdef Py_ssize_t i, part, n = token.shape[0], start = 0
    if page.shape[0] != n:
        raise ValueError(f"split_postings() expects a page for each token: {page.shape[0]} for {n}")
    if not (1 <= parts <= MAX_PARTS and n <= UINT32_MAX // SIZE):
        raise ValueError(f"split_postings() expects 1 to {MAX_PARTS:,} parts, got {parts}")
    cdef array.array result = array.clone(NUMBERS, SIZE * n, zero=False)
    cdef array.array counts = array.clone(NUMBERS, parts, zero=True)
    cdef array.array ends = array.clone(NUMBERS, parts, zero=False)
    cdef unsigned int* target
    cdef unsigned int* count = counts.data.as_uints
    cdef unsigned int* end = ends.data.as_uints
    with nogil:
        for i in range(n):
            count[_part(token[i], parts)] += 1
        for i in range(parts):
            end[i] = <unsigned int>start
            start += count[i]
        for i in range(n):
            part = _part(token[i], parts)
            target = result.data.as_uints + SIZE * <Py_ssize_t>end[part]
            end[part] += 1
            target[0] = <uint32_t>token[i]
            target[1] = <uint32_t>(token[i] >> 32)
            target[2] = page[i]
    return result, counts


def sort_postings(postings) -> tuple[array.array, array.array]:
    """Return the tokens ('Q') and the pages ('I') of `postings`, sorted by token and then by page."""
    cdef const uint32_t[::1] numbers = page_numbers(postings, "sort_postings")
    cdef Py_ssize_t i, n = numbers.shape[0] // SIZE
    if numbers.shape[0] % SIZE:
        raise ValueError(f"sort_postings() expects {SIZE} numbers for each posting, got {numbers.shape[0]} numbers")
    cdef array.array tokens = array.clone(TOKENS, n, zero=False)
    cdef array.array pages = array.clone(NUMBERS, n, zero=False)
    if n == 0:
        return tokens, pages
    cdef Posting* sorted = <Posting*>malloc(2 * n * sizeof(Posting))
    if sorted == NULL:
        raise MemoryError(f"no memory to sort {n} postings")
    with nogil:
        for i in range(n):
            sorted[i].token = numbers[SIZE * i] | <uint64_t>numbers[SIZE * i + 1] << 32
            sorted[i].page = numbers[SIZE * i + 2]
        sort_in_place(sorted, sorted + n, n)
        for i in range(n):
            tokens.data.as_ulonglongs[i] = sorted[i].token
            pages.data.as_uints[i] = sorted[i].page
        free(sorted)
    return tokens, pages


def bundle_postings(tokens, pages) -> tuple[array.array, array.array]:
    """Return the postings of all tokens on two pages or more, with the token's bundle ('Q') instead of the token.

    A bundle is the set of all tokens on exactly the same pages; its number is a hash of these pages. The pages have
    typecode 'I'. `tokens` and `pages` are sorted, as sort_postings() returns them.
    """
    cdef const uint64_t[::1] token = hashes(tokens, "bundle_postings")
    cdef const uint32_t[::1] page = page_numbers(pages, "bundle_postings")
    cdef Py_ssize_t i, j, n = token.shape[0], start = 0, kept = 0
    cdef uint64_t bundle
    if page.shape[0] != n:
        raise ValueError(f"bundle_postings() expects a page for each token: {page.shape[0]} for {n}")
    cdef array.array bundles = array.clone(TOKENS, n, zero=False)
    cdef array.array result = array.clone(NUMBERS, n, zero=False)
    with nogil:
        for i in range(1, n + 1):
            if i < n and token[i] == token[start]:
                continue
            if i - start > 1:
                bundle = 0
                for j in range(start, i):
                    bundle = mix(bundle + page[j] + 1)
                for j in range(start, i):
                    bundles.data.as_ulonglongs[kept] = bundle
                    result.data.as_uints[kept] = page[j]
                    kept += 1
            start = i
    array.resize(bundles, kept)
    array.resize(result, kept)
    return bundles, result


def put_rows(target, numbers, rows, Py_ssize_t size) -> None:
    """Copy the rows of `size` bytes each in `rows` to the rows of `target` with these `numbers` ('I')."""
    cdef unsigned char[::1] place = _bytes(target)
    cdef const unsigned char[::1] source = _bytes_to_read(rows)
    cdef const uint32_t[::1] number = page_numbers(numbers, "put_rows")
    cdef Py_ssize_t i, n = number.shape[0]
    if size < 1 or source.shape[0] % size or source.shape[0] // size != n:
        raise ValueError(f"put_rows() expects {n} rows of {size} bytes, got {source.shape[0]} bytes")
    for i in range(n):
        if number[i] >= <size_t>(place.shape[0] // size):
            raise ValueError(f"put_rows() has no place for row {number[i]}")
    with nogil:
        for i in range(n):
            memcpy(&place[number[i] * size], &source[i * size], size)


cdef unsigned char[::1] _bytes(object target):
    if target is not None:
        try:
            return target
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"put_rows() expects bytes to write to, got {kind(target)}")


cdef const unsigned char[::1] _bytes_to_read(object rows):
    if rows is not None:
        try:
            return rows
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"put_rows() expects rows as bytes, got {kind(rows)}")


cdef inline Py_ssize_t _part(uint64_t token, Py_ssize_t parts) noexcept nogil:
    return <Py_ssize_t>(((token >> 32) * <uint64_t>parts) >> 32)
