"""Lookups in the word blocks of a segment, and the merge of several segments into one.

A segment is the word index of a range of pages: blocks as in word_blocks.pxd, in the order of their words.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from opensearch_winnow.cython_core.varints cimport (
    MAX_POSTING_BYTES, MAX_SEGMENT_PAGES, MAX_VARINT_BYTES, PostingsCursor, next_posting, open_postings, put_posting,
    put_varint, read_last_page, read_varint, skip_varints,
)
from opensearch_winnow.cython_core.word_blocks cimport (
    Block, Entry, compare_words, free_block, has_space, next_word, open_block, put_word, reserve,
)

cdef str CORRUPT = "the word index is corrupt"
cdef size_t ANY_POSITIONS = <size_t>-1  # stands for their unknown size in a lookup


def find_word(bytes words not None, str word not None) -> tuple[bytes, int, int] | None:
    """Return the postings of `word` in a block, and the start and end of its positions; None if it has no such word.

    `words` is the first byte string of the block; start and end are offsets in the second.
    """
    cdef bytes encoded = word.encode()
    cdef const uint8_t* sought = <const uint8_t*><const char*>encoded
    cdef uint32_t length = <uint32_t>len(encoded)
    cdef Entry entry
    cdef int more, order = -1
    open_block(&entry, <const uint8_t*><const char*>words, len(words), ANY_POSITIONS)
    with nogil:
        while order < 0:
            more = next_word(&entry)
            if more < 1:
                break
            order = compare_words(entry.word, entry.length, sought, length)
    if more < 0:
        raise ValueError(CORRUPT)
    if order:
        return None
    postings = PyBytes_FromStringAndSize(<const char*>entry.postings, entry.postings_size)
    return postings, entry.positions, entry.positions + entry.positions_size


def find_prefix(bytes words not None, str prefix not None) -> list[bytes]:
    """Return the postings of each word in a block that starts with `prefix`."""
    cdef bytes encoded = prefix.encode()
    cdef const uint8_t* sought = <const uint8_t*><const char*>encoded
    cdef uint32_t length = <uint32_t>len(encoded)
    cdef Entry entry
    cdef int more, order
    cdef list result = []
    open_block(&entry, <const uint8_t*><const char*>words, len(words), ANY_POSITIONS)
    while True:
        more = next_word(&entry)
        if more < 1:
            break
        order = compare_words(entry.word, min(entry.length, length), sought, length)
        if order > 0:
            break
        if order == 0:
            result.append(PyBytes_FromStringAndSize(<const char*>entry.postings, entry.postings_size))
    if more < 0:
        raise ValueError(CORRUPT)
    return result


def document_frequencies(bytes postings not None, bytes deleted=None) -> tuple[int, int]:
    """Return the numbers of pages that have a word in the title, and in the text.

    Pages whose byte in `deleted` is not 0 do not count.
    """
    cdef Py_ssize_t in_titles = 0, in_texts = 0
    cdef size_t page_count = MAX_SEGMENT_PAGES if deleted is None else len(deleted)
    cdef const uint8_t* mask = NULL
    cdef const uint8_t* start = <const uint8_t*><const char*>postings
    cdef PostingsCursor cursor
    cdef int more = -1
    if deleted is not None:
        mask = <const uint8_t*><const char*>deleted
    if open_postings(&cursor, start, start + len(postings)):
        with nogil:
            while True:
                more = next_posting(&cursor)
                if more < 1 or cursor.page >= page_count:
                    break
                if mask == NULL or not mask[cursor.page]:
                    in_titles += cursor.title_tf > 0
                    in_texts += cursor.text_tf > 0
    if more:
        raise ValueError(CORRUPT)
    return in_titles, in_texts


@cython.final
cdef class _SegmentReader:
    """Reads the words of a segment in order; `shift` is added to its page numbers."""

    cdef object blocks
    cdef bytes words, positions
    cdef uint32_t shift
    cdef Entry entry
    cdef bint ended

    def __cinit__(self, shift, blocks):
        if not 0 <= shift < MAX_SEGMENT_PAGES:
            raise ValueError(f"the pages of a segment cannot be shifted by {shift}")
        self.shift, self.blocks = shift, iter(blocks)
        self.words = self.positions = b""
        open_block(&self.entry, <const uint8_t*><const char*>self.words, 0, 0)

    cdef int advance(self) except -1:
        cdef int more = next_word(&self.entry)
        cdef bytes before
        while more == 0:
            before = self.last()
            block = next(self.blocks, None)
            if block is None:
                self.ended = True
                return 0
            self.words, self.positions = block
            open_block(&self.entry, <const uint8_t*><const char*>self.words, len(self.words), len(self.positions))
            more = next_word(&self.entry)
            if more == 1 and self.last() <= before:
                more = -1
        if more < 0:
            raise ValueError(CORRUPT)
        return 0

    cdef bytes last(self):
        return PyBytes_FromStringAndSize(<const char*>self.entry.word, self.entry.length)


@cython.final
cdef class MergedSegments:
    """Iterates over the blocks of several segments merged into one, as (first word, words, positions).

    `segments` are pairs: the shift to add to the segment's page numbers, and an iterable of its blocks (words,
    positions). Pages whose byte in `deleted` is not 0 are dropped; these bytes are in the order of the shifted numbers.
    """

    cdef list segments
    cdef bytes deleted
    cdef Block block
    cdef uint8_t* postings  # of one word
    cdef size_t postings_capacity
    cdef uint8_t* positions
    cdef size_t positions_capacity
    cdef bint begun

    def __cinit__(self, segments, bytes deleted=None):
        memset(&self.block, 0, sizeof(self.block))
        self.segments = []
        for shift, blocks in segments:
            self.segments.append(_SegmentReader(shift, blocks))
        self.deleted = deleted

    def __dealloc__(self):
        free_block(&self.block)
        free(self.postings)
        free(self.positions)

    def __iter__(self):
        return self

    def __next__(self) -> tuple[str, bytes, bytes]:
        cdef _SegmentReader segment, smallest
        cdef tuple block
        if not self.begun:
            self.begun = True
            for segment in self.segments:
                segment.advance()
        while True:
            smallest = None
            for segment in self.segments:
                if not segment.ended and (smallest is None or compare_words(
                        segment.entry.word, segment.entry.length, smallest.entry.word, smallest.entry.length) < 0):
                    smallest = segment
            if smallest is None:
                if not self.block.used:
                    raise StopIteration
                return self.take_block()
            block = self.put(smallest)
            if block is not None:
                return block

    cdef tuple put(self, _SegmentReader smallest):
        """Put the smallest word into the current block; return the block before it, if that was full, or None."""
        cdef size_t size = 2 * MAX_VARINT_BYTES, positions_size = 0
        cdef uint8_t* put
        cdef uint8_t* put_positions
        cdef uint8_t* start
        cdef uint32_t before = 0
        cdef _SegmentReader segment
        cdef list same = []
        cdef tuple block = None
        for segment in self.segments:
            if not segment.ended and not compare_words(
                    segment.entry.word, segment.entry.length, smallest.entry.word, smallest.entry.length):
                same.append(segment)
                size += segment.entry.postings_size + MAX_VARINT_BYTES + MAX_POSTING_BYTES
                positions_size += segment.entry.positions_size
        if not (reserve(&self.postings, &self.postings_capacity, size)
                and reserve(&self.positions, &self.positions_capacity, positions_size)):
            raise MemoryError("no memory for the postings of a word")
        put, put_positions = self.postings + MAX_VARINT_BYTES, self.positions
        for segment in same:
            if self.deleted is None:
                put = append_shifted(segment, put, &before)
                memcpy(put_positions, <const uint8_t*><const char*>segment.positions + segment.entry.positions,
                       segment.entry.positions_size)
                put_positions += segment.entry.positions_size
            else:
                put = append_undeleted(segment, self.deleted, put, &put_positions, &before)
        if before:
            start = put_last_page(self.postings, before - 1)
            if self.block.used and not has_space(
                    &self.block, smallest.entry.length, put - start, put_positions - self.positions):
                block = self.take_block()
            if not put_word(&self.block, smallest.entry.word, smallest.entry.length, start, put - start,
                            self.positions, put_positions - self.positions):
                raise MemoryError("no memory for a block of words")
        for segment in same:
            segment.advance()
        return block

    cdef tuple take_block(self):
        block = (
            PyUnicode_DecodeUTF8(<const char*>self.block.first, self.block.first_length, NULL),
            PyBytes_FromStringAndSize(<const char*>self.block.words, self.block.used),
            PyBytes_FromStringAndSize(<const char*>self.block.positions, self.block.positions_used))
        self.block.used = self.block.positions_used = 0
        return block


cdef uint8_t* put_last_page(uint8_t* pages, uint32_t last) noexcept:
    """Write the last page into the space before a word's postings; return where it starts."""
    cdef uint8_t[MAX_VARINT_BYTES] head
    cdef Py_ssize_t size = put_varint(head, last) - head
    memcpy(pages + MAX_VARINT_BYTES - size, head, size)
    return pages + MAX_VARINT_BYTES - size


cdef uint8_t* append_shifted(_SegmentReader segment, uint8_t* put, uint32_t* before) except NULL:
    """Append the segment's postings of its word to `put` and return the address after them.

    The last page so far is `before` - 1. Only the first posting is encoded anew; the other distances stay.
    """
    cdef const uint8_t* at = segment.entry.postings
    cdef const uint8_t* end = at + segment.entry.postings_size
    cdef uint32_t last = 0, first = 0, page
    at = read_varint(read_last_page(at, end, &last), end, &first)
    page = segment.shift + (first >> 2)
    last += segment.shift
    if at == NULL or page < before[0] or last < page or last >= MAX_SEGMENT_PAGES:
        raise ValueError(CORRUPT)
    put = put_varint(put, (page - (before[0] - 1 if before[0] else 0)) << 2 | first & 3)
    memcpy(put, at, end - at)
    before[0] = last + 1
    return put + (end - at)


cdef uint8_t* append_undeleted(
    _SegmentReader segment, bytes deleted, uint8_t* put, uint8_t** put_positions, uint32_t* before
) except NULL:
    """Append as append_shifted() does, without deleted pages."""
    cdef const uint8_t* mask = <const uint8_t*><const char*>deleted
    cdef const uint8_t* at = <const uint8_t*><const char*>segment.positions + segment.entry.positions
    cdef const uint8_t* end = at + segment.entry.positions_size
    cdef const uint8_t* start
    cdef size_t page_count = len(deleted)
    cdef PostingsCursor cursor
    cdef int more = -1
    if open_postings(&cursor, segment.entry.postings, segment.entry.postings + segment.entry.postings_size):
        cursor.page = segment.shift
        while True:
            more = next_posting(&cursor)
            if more < 1:
                break
            start = at
            at = skip_varints(at, end, <size_t>cursor.title_tf + cursor.text_tf)
            if at == NULL or cursor.page >= page_count or cursor.page < before[0]:
                more = -1
                break
            if not mask[cursor.page]:
                put = put_posting(
                    put, cursor.page - (before[0] - 1 if before[0] else 0), cursor.title_tf, cursor.text_tf)
                before[0] = cursor.page + 1
                memcpy(put_positions[0], start, at - start)
                put_positions[0] += at - start
    if more < 0:
        raise ValueError(CORRUPT)
    return put
