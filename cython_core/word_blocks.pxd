"""Blocks of sorted words with their postings and positions, each sized to fill one page of the database file.

A block is two byte strings. The first has for each word the number of bytes it shares with the word before, the
number of its other bytes and these bytes, the sizes of its postings and of its positions, and the postings. The second
has the positions of all words.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

from opensearch_winnow.cython_core.varints cimport MAX_VARINT_BYTES, put_varint, read_varint

cdef enum:
    MAX_WORD_BYTES = 1020  # 255 characters
    # The largest row that takes only one page of the file. A word that does not fit starts the next block, unless this
    # block is less than half full: then the block takes as many file pages as it needs.
    BLOCK_BYTES = 8_100
    HALF_BLOCK_BYTES = BLOCK_BYTES // 2


cdef struct Block:
    uint8_t* words
    size_t used
    size_t capacity
    uint8_t* positions
    size_t positions_used
    size_t positions_capacity
    uint8_t[MAX_WORD_BYTES] first
    uint32_t first_length
    uint8_t[MAX_WORD_BYTES] last
    uint32_t last_length


cdef struct Entry:
    # A word in a block, and the address of the next one.
    const uint8_t* at
    const uint8_t* end
    size_t positions_at
    size_t positions_end
    uint8_t[MAX_WORD_BYTES] word
    uint32_t length
    const uint8_t* postings
    uint32_t postings_size
    size_t positions  # offset in the positions of the block
    uint32_t positions_size


cdef inline bint has_space(
    const Block* block, uint32_t length, size_t postings_size, size_t positions_size
) noexcept nogil:
    """Return whether another word fits into this block."""
    cdef size_t used = block.used + block.positions_used
    return used < HALF_BLOCK_BYTES or used + length + postings_size + positions_size + 8 <= BLOCK_BYTES


cdef inline bint put_word(
    Block* block, const uint8_t* word, uint32_t length,
    const uint8_t* postings, size_t postings_size, const uint8_t* positions, size_t positions_size,
) noexcept nogil:
    """Add the next word; return False if there is no memory."""
    cdef uint32_t shared = 0
    cdef uint8_t* at
    if not reserve(&block.words, &block.capacity, block.used + 4 * MAX_VARINT_BYTES + length + postings_size):
        return False
    if not reserve(&block.positions, &block.positions_capacity, block.positions_used + positions_size):
        return False
    if not block.used:
        memcpy(block.first, word, length)
        block.first_length = length
        block.last_length = 0
    while shared < length and shared < block.last_length and word[shared] == block.last[shared]:
        shared += 1
    at = put_varint(put_varint(block.words + block.used, shared), length - shared)
    memcpy(at, word + shared, length - shared)
    at = put_varint(put_varint(at + length - shared, <uint32_t>postings_size), <uint32_t>positions_size)
    memcpy(at, postings, postings_size)
    block.used = at + postings_size - block.words
    memcpy(block.positions + block.positions_used, positions, positions_size)
    block.positions_used += positions_size
    memcpy(block.last + shared, word + shared, length - shared)
    block.last_length = length
    return True


cdef inline bint reserve(uint8_t** memory, size_t* capacity, size_t needed) noexcept nogil:
    """Grow `memory` to at least `needed` bytes; return False if there is no memory."""
    cdef uint8_t* larger
    if needed > capacity[0] or memory[0] == NULL:
        larger = <uint8_t*>realloc(memory[0], 2 * needed + 1)
        if larger == NULL:
            return False
        memory[0], capacity[0] = larger, 2 * needed
    return True


cdef inline void free_block(Block* block) noexcept nogil:
    free(block.words)
    free(block.positions)


cdef inline void open_block(Entry* entry, const uint8_t* words, size_t size, size_t positions_size) noexcept nogil:
    entry.at, entry.end = words, words + size
    entry.positions_at, entry.positions_end = 0, positions_size
    entry.length = 0


cdef inline int next_word(Entry* entry) noexcept nogil:
    """Go to the next word; return 1 if there is one, 0 at the end, -1 if the bytes are corrupt."""
    cdef uint32_t shared, more
    cdef const uint8_t* at
    if entry.at == entry.end:
        return 0
    at = read_varint(read_varint(entry.at, entry.end, &shared), entry.end, &more)
    if at == NULL or shared > entry.length or more > MAX_WORD_BYTES - shared or more > entry.end - at or not more:
        return -1
    if shared < entry.length and entry.word[shared] >= at[0]:  # not in order
        return -1
    memcpy(entry.word + shared, at, more)
    entry.length = shared + more
    at = read_varint(read_varint(at + more, entry.end, &entry.postings_size), entry.end, &entry.positions_size)
    if at == NULL or entry.postings_size > entry.end - at:
        return -1
    if entry.positions_size > entry.positions_end - entry.positions_at:
        return -1
    entry.postings, entry.positions = at, entry.positions_at
    entry.at = at + entry.postings_size
    entry.positions_at += entry.positions_size
    return 1


cdef inline int compare_words(const uint8_t* a, uint32_t a_length, const uint8_t* b, uint32_t b_length) noexcept nogil:
    """Compare two words byte by byte, as memcmp() does."""
    cdef int order = memcmp(a, b, min(a_length, b_length))
    return order if order else (a_length > b_length) - (a_length < b_length)
