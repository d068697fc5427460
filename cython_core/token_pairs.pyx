"""Pairs of pages that have a token in common, from postings: the pages of one token, then those of another.

A pair is an integer: the number of the later page, and above 32 bits that of the earlier.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.pair_list cimport PairList, append, complete, taken

cdef array.array PAIRS = array.array("Q")
cdef array.array COUNTS = array.array("I")


def split_pairs(pairs, Py_ssize_t parts, Py_ssize_t pages) -> tuple[array.array, array.array]:
    """The pairs by their later page, of which there are so many: those of the first part of them, and so on. Second,
    how many each part has ('I'). No page has many pairs with pages before it, so that parts are of about one size."""
    cdef const uint64_t[::1] pair = hashes(pairs, "split_pairs")
    cdef Py_ssize_t i, n = pair.shape[0], start = 0
    cdef uint64_t part
    if not (1 <= parts <= 65_536 and 1 <= pages <= UINT32_MAX and n <= UINT32_MAX):
        raise ValueError(f"split_pairs() wants 1 to 65,536 parts of 1 page or more, got {parts} of {pages}")
    cdef array.array result = array.clone(PAIRS, n, zero=False)
    cdef array.array counts = array.clone(COUNTS, parts, zero=True)
    cdef array.array ends = array.clone(PAIRS, parts, zero=True)
    for i in range(n):
        part = (pair[i] & UINT32_MAX) * <uint64_t>parts // <uint64_t>pages
        if part >= <uint64_t>parts:
            raise ValueError(f"split_pairs() is told of {pages} pages, and there is {pair[i] & UINT32_MAX}")
        counts.data.as_uints[part] += 1
    for i in range(parts):
        ends.data.as_ulonglongs[i] = start
        start += counts.data.as_uints[i]
    for i in range(n):
        part = (pair[i] & UINT32_MAX) * <uint64_t>parts // <uint64_t>pages
        result.data.as_ulonglongs[ends.data.as_ulonglongs[part]] = pair[i]
        ends.data.as_ulonglongs[part] += 1
    return result, counts


cdef class TokenPairs:
    """Takes postings in parts, the pages of each token in ascending order.

    A page is paired with all pages before it that have the token; if these are more than `most`, with the first half of
    that and the last half. So pairs grow with the pages and not with their square, those that come first are sure to
    be seen, and no page changes the pairs of pages before it.
    """

    cdef readonly Py_ssize_t most
    cdef readonly Py_ssize_t common  # tokens that are on more pages than that, and one
    cdef readonly Py_ssize_t longest  # pages that a token is on
    cdef readonly uint64_t left_out  # pairs that common tokens have in excess
    cdef Py_ssize_t heads  # how many of `most` are the first pages
    cdef uint32_t* head
    cdef uint32_t* tail  # a ring: the n-th page after the first ones is at n, modulo its size
    cdef uint64_t token
    cdef Py_ssize_t count  # pages of the token so far
    cdef uint32_t last  # of them

    def __cinit__(self, Py_ssize_t most):
        if not 2 <= most <= 1_000_000:
            raise ValueError(f"TokenPairs() wants to pair a page with 2 to 1,000,000 before it, not {most}")
        self.most = most
        self.heads = most // 2
        self.head = <uint32_t*>malloc(most * sizeof(uint32_t))
        if self.head == NULL:
            raise MemoryError(f"TokenPairs() could not get memory for {most} pages")
        self.tail = self.head + self.heads

    def __dealloc__(self):
        free(self.head)

    def add(self, tokens, pages, changed=None) -> array.array:
        """The pairs of these pages with those before them, also of earlier parts ('Q').

        `changed` has a byte for every page there is: pairs of two pages that have 0 there are left out.
        """
        cdef const uint64_t[::1] token = hashes(tokens, "add")
        cdef const uint32_t[::1] page = page_numbers(pages, "add")
        cdef const unsigned char[::1] flags = _flags(changed)
        cdef const unsigned char* flag = NULL
        cdef Py_ssize_t i, n = token.shape[0], wrong = -1
        cdef PairList pairs = PairList(NULL, 0, 0)
        if page.shape[0] != n:
            raise ValueError(f"add() wants a page for each token: {page.shape[0]} for {n}")
        for i in range(n if changed is not None else 0):
            if page[i] >= flags.shape[0]:
                raise ValueError(f"add() is told of {flags.shape[0]} pages whether they changed, and not of {page[i]}")
        if changed is not None and flags.shape[0]:
            flag = &flags[0]
        with nogil:
            for i in range(n):
                if self.count == 0 or token[i] != self.token:
                    self.token = token[i]
                    self.count = 0
                elif page[i] <= self.last:
                    if page[i] < self.last:
                        wrong = i
                        break
                    continue  # a token may come twice on a page
                self._pair(page[i], flag, &pairs)
                if not complete(&pairs):
                    break
                self._keep(page[i])
        cdef array.array result = taken(&pairs, PAIRS)
        if wrong >= 0:
            raise ValueError(f"add() wants the pages of a token in order, got {page[wrong]} after {self.last}")
        return result

    cdef void _pair(self, uint32_t page, const unsigned char* changed, PairList* pairs) noexcept nogil:
        cdef Py_ssize_t i, tails = self.most - self.heads
        for i in range(min(self.count, self.heads)):
            if changed == NULL or changed[page] or changed[self.head[i]]:
                append(pairs, (<uint64_t>self.head[i] << 32) | page)
        for i in range(min(max(self.count - self.heads, 0), tails)):
            if changed == NULL or changed[page] or changed[self.tail[i]]:
                append(pairs, (<uint64_t>self.tail[i] << 32) | page)
        if self.count > self.most:
            self.left_out += <uint64_t>(self.count - self.most)
            self.common += self.count == self.most + 1

    cdef void _keep(self, uint32_t page) noexcept nogil:
        if self.count < self.heads:
            self.head[self.count] = page
        else:
            self.tail[(self.count - self.heads) % (self.most - self.heads)] = page
        self.last = page
        self.count += 1
        self.longest = max(self.longest, self.count)


cdef const unsigned char[::1] _flags(object changed):
    if changed is not None:
        try:
            return changed
        except (TypeError, ValueError, BufferError):
            raise TypeError(f"add() wants a byte for each page, whether it changed, got {kind(changed)}") from None
    return b""
