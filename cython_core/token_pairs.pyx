"""Candidate pairs: pages that share a token, from postings sorted by token.

A pair of page numbers is the integer earlier << 32 | later.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.pair_list cimport PairList, append, is_complete, take_array

cdef array.array PAIRS = array.array("Q")
cdef array.array COUNTS = array.array("I")


def split_pairs(pairs, Py_ssize_t parts, Py_ssize_t pages) -> tuple[array.array, array.array]:
    """Partition `pairs` into `parts` ranges of their later page; return the pairs part by part, and each part's size.

    `pages` is the number of all pages. No page has many pairs with pages before it, so the parts have similar sizes.
    The sizes have typecode 'I'.
    """
    cdef const uint64_t[::1] pair = hashes(pairs, "split_pairs")
    cdef Py_ssize_t i, n = pair.shape[0], start = 0
    cdef uint64_t part
    if not (1 <= parts <= 65_536 and 1 <= pages <= UINT32_MAX and n <= UINT32_MAX):
        raise ValueError(f"split_pairs() expects 1 to 65,536 parts and 1 page or more, got {parts} and {pages}")
    cdef array.array result = array.clone(PAIRS, n, zero=False)
    cdef array.array counts = array.clone(COUNTS, parts, zero=True)
    cdef array.array ends = array.clone(PAIRS, parts, zero=True)
    cdef Py_ssize_t wrong = -1
    with nogil:
        for i in range(n):
            part = (pair[i] & UINT32_MAX) * <uint64_t>parts // <uint64_t>pages
            if part >= <uint64_t>parts:
                wrong = i
                break
            counts.data.as_uints[part] += 1
        else:
            for i in range(parts):
                ends.data.as_ulonglongs[i] = start
                start += counts.data.as_uints[i]
            for i in range(n):
                part = (pair[i] & UINT32_MAX) * <uint64_t>parts // <uint64_t>pages
                result.data.as_ulonglongs[ends.data.as_ulonglongs[part]] = pair[i]
                ends.data.as_ulonglongs[part] += 1
    if wrong >= 0:
        raise ValueError(f"split_pairs() expects pages below {pages}, got {pair[wrong] & UINT32_MAX}")
    return result, counts


cdef class TokenPairs:
    """Makes pairs from postings that come in parts, the pages of each token in ascending order.

    A page is paired with all earlier pages that have the token. If these are more than `max_partners`, it is paired
    with the first and the last `max_partners` / 2 of them. So the number of pairs grows linearly with the pages, the
    first pages of a token are always paired, and no page changes the pairs of pages before it.
    """

    cdef readonly Py_ssize_t max_partners
    cdef readonly Py_ssize_t common_tokens  # tokens on more than max_partners + 1 pages
    cdef readonly Py_ssize_t longest_list  # pages of the most frequent token
    cdef readonly uint64_t skipped_pairs  # pairs of common tokens that were not made
    cdef Py_ssize_t heads  # the number of partners that are the first pages of the token
    cdef uint32_t* head
    cdef uint32_t* tail  # a ring buffer: the n-th page after the heads is at n modulo its size
    cdef uint64_t token
    cdef Py_ssize_t count  # pages of the current token so far
    cdef uint32_t last  # page of the current token

    def __cinit__(self, Py_ssize_t max_partners):
        if not 2 <= max_partners <= 1_000_000:
            raise ValueError(f"TokenPairs() expects 2 to 1,000,000 partners per page, not {max_partners}")
        self.max_partners = max_partners
        self.heads = max_partners // 2
        self.head = <uint32_t*>malloc(max_partners * sizeof(uint32_t))
        if self.head == NULL:
            raise MemoryError(f"TokenPairs() could not get memory for {max_partners} pages")
        self.tail = self.head + self.heads

    def __dealloc__(self):
        free(self.head)

    def add(self, tokens, pages, changed=None) -> array.array:
        """Return the pairs of the given pages with earlier ones, including those of earlier parts ('Q').

        `changed` has a byte for every page: a pair is left out if the bytes of both its pages are 0.
        """
        cdef const uint64_t[::1] token = hashes(tokens, "add")
        cdef const uint32_t[::1] page = page_numbers(pages, "add")
        cdef const unsigned char[::1] flags = _flags(changed)
        cdef const unsigned char* flag = NULL
        cdef Py_ssize_t i, n = token.shape[0], wrong = -1
        cdef PairList pairs = PairList(NULL, 0, 0)
        if page.shape[0] != n:
            raise ValueError(f"add() expects a page for each token: {page.shape[0]} for {n}")
        for i in range(n if changed is not None else 0):
            if page[i] >= flags.shape[0]:
                raise ValueError(f"add() has {flags.shape[0]} flags for changed pages, and none for page {page[i]}")
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
                    continue  # a token may occur twice on a page
                self._pair(page[i], flag, &pairs)
                if not is_complete(&pairs):
                    break
                self._remember(page[i])
        cdef array.array result = take_array(&pairs, PAIRS)
        if wrong >= 0:
            raise ValueError(f"add() expects a token's pages in ascending order, got {page[wrong]} after {self.last}")
        return result

    cdef void _pair(self, uint32_t page, const unsigned char* changed, PairList* pairs) noexcept nogil:
        cdef Py_ssize_t i, tails = self.max_partners - self.heads
        for i in range(min(self.count, self.heads)):
            if changed == NULL or changed[page] or changed[self.head[i]]:
                append(pairs, (<uint64_t>self.head[i] << 32) | page)
        for i in range(min(max(self.count - self.heads, 0), tails)):
            if changed == NULL or changed[page] or changed[self.tail[i]]:
                append(pairs, (<uint64_t>self.tail[i] << 32) | page)
        if self.count > self.max_partners:
            self.skipped_pairs += <uint64_t>(self.count - self.max_partners)
            self.common_tokens += self.count == self.max_partners + 1

    cdef void _remember(self, uint32_t page) noexcept nogil:
        if self.count < self.heads:
            self.head[self.count] = page
        else:
            self.tail[(self.count - self.heads) % (self.max_partners - self.heads)] = page
        self.last = page
        self.count += 1
        self.longest_list = max(self.longest_list, self.count)


cdef const unsigned char[::1] _flags(object changed):
    if changed is not None:
        try:
            return changed
        except (TypeError, ValueError, BufferError):
            raise TypeError(f"add() expects a byte for each page in `changed`, got {kind(changed)}") from None
    return b""
