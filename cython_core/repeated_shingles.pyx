"""Counts the documents that have each shingle of a whole set, and finds the runs of words that are repeated.

A block has the shingles of some documents, divided into parts by token, and in each part in the order of the documents.
It has a shingle once for each document, even if it occurs there twice. The mark of a shingle is twice the number of
documents that have it, plus 1 in the first of these documents.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.sorted_postings cimport Posting, sort_in_place

cdef array.array SHINGLES = array.array("Q")
cdef array.array NUMBERS = array.array("I")

cdef enum:
    MAX_PARTS = 65536
    MAX_DOCUMENTS = 0x7FFFFFFF  # so that twice their number, plus 1, has 32 bits


def split_shingles(shingles, ends, Py_ssize_t parts) -> tuple[array.array, array.array]:
    """Return the block of some documents ('Q'), and the number of shingles in each of its parts ('I').

    Document i has the `shingles` from ends[i - 1] to ends[i].
    """
    cdef const uint64_t[::1] source = hashes(shingles, "split_shingles")
    cdef const uint32_t[::1] end = page_numbers(ends, "split_shingles")
    cdef Py_ssize_t i, n = source.shape[0], documents = end.shape[0], longest = 0, before = 0
    cdef Py_ssize_t j, part, total = 0
    if not 1 <= parts <= MAX_PARTS:
        raise ValueError(f"split_shingles() expects 1 to {MAX_PARTS:,} parts, got {parts}")
    for i in range(documents):
        if end[i] < before:
            raise ValueError(f"split_shingles() expects ends in ascending order, and document {i} ends too early")
        longest = max(longest, end[i] - before)
        before = end[i]
    if before != n:
        raise ValueError(f"split_shingles() expects documents with {n} shingles in all, got {before}")
    cdef array.array counts = array.clone(NUMBERS, parts, zero=True)
    cdef array.array places = array.clone(NUMBERS, parts, zero=False)
    cdef array.array block = array.clone(SHINGLES, n, zero=False)
    cdef uint32_t* count = <uint32_t*>counts.data.as_uints
    cdef uint32_t* place = <uint32_t*>places.data.as_uints
    cdef uint64_t* target = <uint64_t*>block.data.as_ulonglongs
    cdef uint32_t* firsts = <uint32_t*>malloc(n * sizeof(uint32_t) + 1)
    cdef uint32_t* table = <uint32_t*>malloc(table_size(longest) * sizeof(uint32_t))
    if firsts == NULL or table == NULL:
        free(firsts)
        free(table)
        raise MemoryError(f"no memory for {n} shingles")
    with nogil:
        before = 0
        for i in range(documents):
            if end[i] > before:
                find_firsts(&source[before], end[i] - before, table, firsts + before)
            for j in range(before, end[i]):
                count[part_of(source[j], parts)] += firsts[j] == j - before
            before = end[i]
        for i in range(parts):
            place[i] = <uint32_t>total
            total += count[i]
        before = 0
        for i in range(documents):
            for j in range(before, end[i]):
                if firsts[j] == j - before:
                    part = part_of(source[j], parts)
                    target[place[part]] = source[j]
                    place[part] += 1
            before = end[i]
        free(firsts)
        free(table)
    array.resize(block, total)
    return block, counts


def count_documents(shingles) -> array.array:
    """Return the mark of each shingle ('I'), given one part of all blocks, the blocks in the order of the documents."""
    cdef const uint64_t[::1] source = hashes(shingles, "count_documents")
    cdef Py_ssize_t i, n = source.shape[0], start = 0, j
    if n > MAX_DOCUMENTS:
        raise ValueError(f"count_documents() takes at most {MAX_DOCUMENTS:,} shingles, got {n:,}")
    cdef array.array marks = array.clone(NUMBERS, n, zero=False)
    cdef uint32_t* mark = <uint32_t*>marks.data.as_uints
    if n == 0:
        return marks
    cdef Posting* sorted = <Posting*>malloc(2 * n * sizeof(Posting))
    if sorted == NULL:
        raise MemoryError(f"no memory to sort {n} shingles")
    with nogil:
        for i in range(n):
            sorted[i].token = source[i]
            sorted[i].page = <uint32_t>i
        sort_in_place(sorted, sorted + n, n)
        for i in range(1, n + 1):
            if i == n or sorted[i].token != sorted[start].token:
                for j in range(start, i):
                    mark[sorted[j].page] = <uint32_t>(2 * (i - start) + (j == start))
                start = i
        free(sorted)
    return marks


def take_marks(shingles, Py_ssize_t width, block, marks, places) -> array.array:
    """Return the mark of each shingle of a document ('I'), and move `places` on to the next document of the block.

    `marks` has the marks of the block. `places` has the index of the next shingle of each part ('I'): at first, the
    starts of the parts. A second occurrence in the document gets the mark of the first. If the two do not overlap, its
    lowest bit is cleared.
    """
    cdef const uint64_t[::1] source = hashes(shingles, "take_marks")
    cdef const uint64_t[::1] known = hashes(block, "take_marks")
    cdef const uint32_t[::1] mark = page_numbers(marks, "take_marks")
    cdef uint32_t[::1] place = places_to_move(places)
    cdef Py_ssize_t i, n = source.shape[0], parts = place.shape[0], size = known.shape[0], part
    cdef uint32_t at
    cdef bint differs = False
    if mark.shape[0] != size or not 1 <= parts <= MAX_PARTS:
        raise ValueError(f"take_marks() expects a mark for each of {size} shingles, and the place of each part")
    cdef array.array result = array.clone(NUMBERS, n, zero=False)
    cdef uint32_t* target = <uint32_t*>result.data.as_uints
    if n == 0:
        return result
    cdef uint32_t* table = <uint32_t*>malloc(table_size(n) * sizeof(uint32_t))
    if table == NULL:
        raise MemoryError(f"no memory for {n} shingles")
    with nogil:
        find_firsts(&source[0], n, table, target)
        for i in range(n):
            if target[i] < i:
                target[i] = target[target[i]] & (~<uint32_t>1 if i - target[i] >= width else UINT32_MAX)
                continue
            part = part_of(source[i], parts)
            at = place[part]
            if at >= size or known[at] != source[i]:
                differs = True
                break
            target[i] = mark[at]
            place[part] += 1
        free(table)
    if differs:
        raise ValueError("take_marks() expects the documents of the block in their order, and this is another")
    return result


def repeated_runs(marks, Py_ssize_t width, Py_ssize_t documents, bint every) -> list[tuple[int, int, int]]:
    """Return the maximal runs of repeated words, as (start, end, count): indices of words, and a number of documents.

    `marks` has the mark of each shingle of a document, of `width` words. The words of a shingle are repeated if at
    least `documents` documents have it, except in its first occurrence; with `every`, there too. `count` is the
    smallest number of documents that have a shingle of the run.
    """
    cdef const uint32_t[::1] mark = page_numbers(marks, "repeated_runs")
    cdef Py_ssize_t i, n = mark.shape[0], start = 0, end = 0
    cdef uint32_t count, smallest = 0
    cdef list runs = []
    if not (1 <= width <= UINT32_MAX and documents >= 1):
        raise ValueError(f"repeated_runs() expects at least 1 word and 1 document, got {width} and {documents}")
    for i in range(n):
        count = mark[i] >> 1
        if count < <size_t>documents or mark[i] & 1 and not every:
            continue
        if i > end or end == 0:  # not in the words of the last run, nor next to them
            if end:
                runs.append((start, end, smallest))
            start = i
            smallest = count
        smallest = min(smallest, count)
        end = i + width
    if end:
        runs.append((start, end, smallest))
    return runs


cdef inline Py_ssize_t part_of(uint64_t shingle, Py_ssize_t parts) noexcept nogil:
    return <Py_ssize_t>(((shingle >> 32) * <uint64_t>parts) >> 32)


cdef inline Py_ssize_t table_size(Py_ssize_t n) noexcept nogil:
    """Return the smallest power of 2 that leaves half of a hash table of `n` shingles empty."""
    cdef Py_ssize_t size = 2
    while size < 2 * n:
        size *= 2
    return size


cdef void find_firsts(const uint64_t* shingles, Py_ssize_t n, uint32_t* table, uint32_t* firsts) noexcept nogil:
    """Write for each shingle the index of the first that equals it. `table` has room for table_size(n) numbers."""
    cdef Py_ssize_t i, mask = table_size(n) - 1, slot
    memset(table, 0, (mask + 1) * sizeof(uint32_t))
    for i in range(n):
        slot = <Py_ssize_t>shingles[i] & mask
        while table[slot] and shingles[table[slot] - 1] != shingles[i]:
            slot = (slot + 1) & mask
        if not table[slot]:
            table[slot] = <uint32_t>(i + 1)
        firsts[i] = table[slot] - 1


cdef uint32_t[::1] places_to_move(object places):
    if places is not None:
        try:
            return places
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"take_marks() expects places to move, an array of typecode 'I', got {kind(places)}")
