"""Words in order with their pages and places, in blocks that fill a page of the file.

A block is two strings of bytes. In the first each word is told by how many bytes it shares with the one before, and the
others; then how many bytes its pages take, and its places, and the pages. The places of all are the second.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

from opensearch_winnow.cython_core.varints cimport LONGEST_NUMBER, number_at, put_number

cdef enum:
    LONGEST_WORD = 1020  # bytes: 255 characters
    # Bytes of a block: all that a row may have without a page of the file more. A word that does not fit begins the
    # next one, unless this one is not even half full; then it takes as many pages as it needs.
    FULL = 8_100
    HALF = FULL // 2


cdef struct Block:
    uint8_t* words
    size_t used
    size_t room
    uint8_t* places
    size_t places_used
    size_t places_room
    uint8_t[LONGEST_WORD] first
    uint32_t first_length
    uint8_t[LONGEST_WORD] last
    uint32_t last_length


cdef struct Entry:
    # A word in a block, and where the next one is.
    const uint8_t* at
    const uint8_t* end
    size_t places_at
    size_t places_end
    uint8_t[LONGEST_WORD] word
    uint32_t length
    const uint8_t* pages
    uint32_t pages_size
    size_t places  # where in the places of the block
    uint32_t places_size


cdef inline bint fits(const Block* block, uint32_t length, size_t pages_size, size_t places_size) noexcept nogil:
    cdef size_t used = block.used + block.places_used
    return used < HALF or used + length + pages_size + places_size + 8 <= FULL


cdef inline bint put_word(
    Block* block, const uint8_t* word, uint32_t length,
    const uint8_t* pages, size_t pages_size, const uint8_t* places, size_t places_size,
) noexcept nogil:
    """Add the next word. Whether there was memory enough."""
    cdef uint32_t shared = 0
    cdef uint8_t* at
    if not has_room(&block.words, &block.room, block.used + 4 * LONGEST_NUMBER + length + pages_size):
        return False
    if not has_room(&block.places, &block.places_room, block.places_used + places_size):
        return False
    if not block.used:
        memcpy(block.first, word, length)
        block.first_length = length
        block.last_length = 0
    while shared < length and shared < block.last_length and word[shared] == block.last[shared]:
        shared += 1
    at = put_number(put_number(block.words + block.used, shared), length - shared)
    memcpy(at, word + shared, length - shared)
    at = put_number(put_number(at + length - shared, <uint32_t>pages_size), <uint32_t>places_size)
    memcpy(at, pages, pages_size)
    block.used = at + pages_size - block.words
    memcpy(block.places + block.places_used, places, places_size)
    block.places_used += places_size
    memcpy(block.last + shared, word + shared, length - shared)
    block.last_length = length
    return True


cdef inline bint has_room(uint8_t** memory, size_t* room, size_t needed) noexcept nogil:
    cdef uint8_t* larger
    if needed > room[0] or memory[0] == NULL:
        larger = <uint8_t*>realloc(memory[0], 2 * needed + 1)
        if larger == NULL:
            return False
        memory[0], room[0] = larger, 2 * needed
    return True


cdef inline void free_block(Block* block) noexcept nogil:
    free(block.words)
    free(block.places)


cdef inline void open_block(Entry* entry, const uint8_t* words, size_t size, size_t places_size) noexcept nogil:
    entry.at, entry.end = words, words + size
    entry.places_at, entry.places_end = 0, places_size
    entry.length = 0


cdef inline int next_word(Entry* entry) noexcept nogil:
    """1 for a word, 0 behind the last, -1 for what makes no sense."""
    cdef uint32_t shared, more
    cdef const uint8_t* at
    if entry.at == entry.end:
        return 0
    at = number_at(number_at(entry.at, entry.end, &shared), entry.end, &more)
    if at == NULL or shared > entry.length or more > LONGEST_WORD - shared or more > entry.end - at or not more:
        return -1
    if shared < entry.length and entry.word[shared] >= at[0]:  # not in order
        return -1
    memcpy(entry.word + shared, at, more)
    entry.length = shared + more
    at = number_at(number_at(at + more, entry.end, &entry.pages_size), entry.end, &entry.places_size)
    if at == NULL or entry.pages_size > entry.end - at or entry.places_size > entry.places_end - entry.places_at:
        return -1
    entry.pages, entry.places = at, entry.places_at
    entry.at = at + entry.pages_size
    entry.places_at += entry.places_size
    return 1


cdef inline int compared(const uint8_t* a, uint32_t a_length, const uint8_t* b, uint32_t b_length) noexcept nogil:
    cdef int order = memcmp(a, b, min(a_length, b_length))
    return order if order else (a_length > b_length) - (a_length < b_length)
