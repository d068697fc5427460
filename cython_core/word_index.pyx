"""Inverted index of pages: for each word its postings (page, tf) and positions, in blocks as in word_blocks.pxd."""

import array
import os

cimport cython
from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from opensearch_winnow.cython_core.varints cimport (
    MAX_POSTING_BYTES, MAX_SEGMENT_PAGES, MAX_VARINT_BYTES, put_posting, put_varint,
)
from opensearch_winnow.cython_core.word_blocks cimport Block, compare_words, free_block, has_space, put_word
from opensearch_winnow.cython_core.word_tokens cimport Tokens, free_tokens, tokenize

cdef array.array COUNTS = array.array("I")
# Random, so that no author can choose words that collide in the hash table. No result depends on it.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little") | 1

cdef uint32_t TITLE = 0x80000000  # the bit of a position that marks the title

cdef enum:
    FIRST_SLOTS = 1 << 12


cdef struct Word:
    const uint8_t* bytes  # set when all words have been added
    size_t start  # in the arena
    uint32_t length
    uint32_t hash
    uint32_t count  # of its occurrences
    uint32_t first  # index of its first occurrence, once they are grouped by word


cdef struct Token:
    uint32_t page
    uint32_t position


def word_index(pages, titles, texts) -> tuple[list[tuple[str, bytes, bytes]], array.array, array.array]:
    """Return the blocks as (first word, words, positions), the lengths of the titles, and the lengths of the texts.

    Lengths are numbers of words ('I'). `pages` are the page numbers in their segment, ascending.
    """
    cdef _Vocabulary vocabulary = _Vocabulary()
    cdef Py_ssize_t i, count = len(pages)
    cdef array.array title_lengths = array.clone(COUNTS, count, zero=False)  # every one is set below
    cdef array.array text_lengths = array.clone(COUNTS, count, zero=False)  # every one is set below
    if not (len(titles) == len(texts) == count):
        raise ValueError(f"word_index() expects a title and a text for each of {count} pages")
    before = -1
    for i in range(count):
        page = pages[i]
        if not before < page < MAX_SEGMENT_PAGES:
            raise ValueError(f"word_index() expects pages in ascending order, from 0, but {page} follows {before}")
        before = page
        title_lengths.data.as_uints[i] = vocabulary.add(titles[i], page, TITLE)
        text_lengths.data.as_uints[i] = vocabulary.add(texts[i], page, 0)
    return vocabulary.blocks(), title_lengths, text_lengths


@cython.final
cdef class _Vocabulary:
    """The distinct words, and all their occurrences in the order in which they were added."""

    cdef Tokens tokens
    cdef uint8_t* arena
    cdef size_t used, capacity
    cdef Word* words
    cdef uint32_t word_count, word_capacity
    cdef uint32_t* slots  # a hash table: the number of a word plus 1; 0 is empty
    cdef uint32_t slot_mask
    cdef uint32_t* word_of  # for each occurrence the number of its word
    cdef Token* token_of  # and its page and position
    cdef size_t count, token_capacity

    def __cinit__(self):
        memset(&self.tokens, 0, sizeof(self.tokens))
        self.slots = <uint32_t*>calloc(FIRST_SLOTS, sizeof(uint32_t))
        if self.slots == NULL:
            raise MemoryError
        self.slot_mask = FIRST_SLOTS - 1

    def __dealloc__(self):
        free_tokens(&self.tokens)
        free(self.arena)
        free(self.words)
        free(self.slots)
        free(self.word_of)
        free(self.token_of)

    cdef uint32_t add(self, str text, uint32_t page, uint32_t field) except? 0xFFFFFFFF:
        """Add a title (`field` = TITLE) or a text (0) and return its number of words."""
        cdef bint enough
        tokenize(text, &self.tokens)
        if self.count + self.tokens.count >= UINT32_MAX:
            raise ValueError(f"word_index() takes fewer than {UINT32_MAX} words at once")
        with nogil:
            enough = self.add_tokens(page, field)
        if not enough:
            raise MemoryError(f"no memory for {self.count + self.tokens.count} words")
        return <uint32_t>self.tokens.count

    cdef bint add_tokens(self, uint32_t page, uint32_t field) noexcept nogil:
        """Add the words in self.tokens; return False if there is no memory."""
        cdef Py_ssize_t i
        cdef uint32_t start = 0, end, word
        if self.count + self.tokens.count > self.token_capacity:
            self.token_capacity = 2 * (self.count + self.tokens.count)
            if not (grow(<void**>&self.word_of, self.token_capacity * sizeof(uint32_t))
                    and grow(<void**>&self.token_of, self.token_capacity * sizeof(Token))):
                return False
        for i in range(self.tokens.count):
            end = self.tokens.ends[i]
            word = self.number_of(<const uint8_t*>self.tokens.bytes + start, end - start)
            if word == UINT32_MAX:
                return False
            self.words[word].count += 1
            self.word_of[self.count] = word
            self.token_of[self.count].page = page
            self.token_of[self.count].position = <uint32_t>i | field
            self.count += 1
            start = end
        return True

    cdef uint32_t number_of(self, const uint8_t* bytes, uint32_t length) noexcept nogil:
        """Return the number of a word, adding it if it is new; UINT32_MAX if there is no memory."""
        cdef uint32_t hash = hash_of(bytes, length), slot = hash & self.slot_mask
        cdef Word* word
        while self.slots[slot]:
            word = &self.words[self.slots[slot] - 1]
            if word.hash == hash and word.length == length and not memcmp(self.arena + word.start, bytes, length):
                return self.slots[slot] - 1
            slot = (slot + 1) & self.slot_mask
        if self.word_count == self.word_capacity:
            self.word_capacity = 2 * self.word_capacity + 1024
            if not grow(<void**>&self.words, self.word_capacity * sizeof(Word)):
                return UINT32_MAX
        if self.used + length > self.capacity:
            self.capacity = 2 * (self.used + length)
            if not grow(<void**>&self.arena, self.capacity):
                return UINT32_MAX
        word = &self.words[self.word_count]
        memcpy(self.arena + self.used, bytes, length)
        word.start, word.length, word.hash, word.count = self.used, length, hash, 0
        self.used += length
        self.word_count += 1
        self.slots[slot] = self.word_count
        if 2 * self.word_count > self.slot_mask and not self.more_slots():
            return UINT32_MAX
        return self.word_count - 1

    cdef bint more_slots(self) noexcept nogil:
        cdef uint32_t mask = 2 * self.slot_mask + 1, i, slot
        cdef uint32_t* slots = <uint32_t*>calloc(<size_t>mask + 1, sizeof(uint32_t))
        if slots == NULL:
            return False
        for i in range(self.word_count):
            slot = self.words[i].hash & mask
            while slots[slot]:
                slot = (slot + 1) & mask
            slots[slot] = i + 1
        free(self.slots)
        self.slots, self.slot_mask = slots, mask
        return True

    cdef list blocks(self):
        """Return the blocks of all words as (first word, words, positions)."""
        cdef Token* grouped = <Token*>malloc((self.count + 1) * sizeof(Token))
        cdef uint8_t* buffer = NULL
        cdef uint8_t* positions
        cdef uint8_t* postings_end
        cdef Word* word
        cdef Block block
        cdef size_t i, size, max_count
        cdef list result = []
        memset(&block, 0, sizeof(block))
        try:
            if grouped == NULL:
                raise MemoryError(f"no memory for {self.count} words")
            max_count = self.group_tokens(grouped)
            buffer = <uint8_t*>malloc(MAX_VARINT_BYTES + max_count * (MAX_POSTING_BYTES + MAX_VARINT_BYTES) + 1)
            if buffer == NULL:
                raise MemoryError(f"no memory for the positions of a word that occurs {max_count} times")
            for i in range(self.word_count):
                word = &self.words[i]
                positions = buffer + MAX_VARINT_BYTES + word.count * MAX_POSTING_BYTES
                size = encode_word(grouped + word.first - word.count, word.count, buffer, positions, &postings_end)
                if block.used and not has_space(&block, word.length, postings_end - buffer, size):
                    result.append(take_block(&block))
                if not put_word(&block, word.bytes, word.length, buffer, postings_end - buffer, positions, size):
                    raise MemoryError("no memory for a block of words")
            if block.used:
                result.append(take_block(&block))
            return result
        finally:
            free_block(&block)
            free(grouped)
            free(buffer)

    cdef size_t group_tokens(self, Token* grouped) noexcept nogil:
        """Group the occurrences by word, sort the words, and return the highest number of occurrences of a word."""
        cdef size_t i, first = 0, max_count = 0
        cdef Word* word
        for i in range(self.word_count):
            self.words[i].first = <uint32_t>first
            self.words[i].bytes = self.arena + self.words[i].start
            first += self.words[i].count
            max_count = max(max_count, self.words[i].count)
        for i in range(self.count):
            word = &self.words[self.word_of[i]]
            grouped[word.first] = self.token_of[i]
            word.first += 1
        if self.word_count:
            qsort(self.words, self.word_count, sizeof(Word), by_word)
        return max_count


cdef tuple take_block(Block* block):
    """Return the block as it is stored, and empty it."""
    result = (
        PyUnicode_DecodeUTF8(<const char*>block.first, block.first_length, NULL),
        PyBytes_FromStringAndSize(<const char*>block.words, block.used),
        PyBytes_FromStringAndSize(<const char*>block.positions, block.positions_used))
    block.used = block.positions_used = 0
    return result


cdef size_t encode_word(
    const Token* token, uint32_t count, uint8_t* postings, uint8_t* positions, uint8_t** postings_end
) noexcept nogil:
    """Encode a word's postings and positions as in varints.pxd; return the size of the positions."""
    cdef const Token* end = token + count
    cdef uint8_t* start = positions
    cdef uint32_t page, last = 0, position, before, title_tf, text_tf
    postings = put_varint(postings, end[-1].page)
    while token < end:
        page = token.page
        title_tf = text_tf = before = 0
        while token < end and token.page == page and token.position & TITLE:
            position = token.position ^ TITLE
            positions = put_varint(positions, position - before)
            before = position
            title_tf += 1
            token += 1
        before = 0
        while token < end and token.page == page:
            positions = put_varint(positions, token.position - before)
            before = token.position
            text_tf += 1
            token += 1
        postings = put_posting(postings, page - last, title_tf, text_tf)
        last = page
    postings_end[0] = postings
    return positions - start


cdef inline uint32_t hash_of(const uint8_t* bytes, uint32_t length) noexcept nogil:
    cdef uint64_t hash = SEED ^ length, part
    while length:
        part = 0
        if length >= 8:
            memcpy(&part, bytes, 8)
            bytes += 8
            length -= 8
        else:
            memcpy(&part, bytes, length)
            length = 0
        hash = (hash ^ part) * <uint64_t>0x9E3779B97F4A7C15
        hash ^= hash >> 29
        hash *= SEED
        hash ^= hash >> 32
    return <uint32_t>hash


cdef int by_word(const void* a, const void* b) noexcept nogil:
    cdef const Word* x = <const Word*>a
    cdef const Word* y = <const Word*>b
    return compare_words(x.bytes, x.length, y.bytes, y.length)


cdef bint grow(void** memory, size_t size) noexcept nogil:
    cdef void* larger = realloc(memory[0], size)
    if larger != NULL:
        memory[0] = larger
    return larger != NULL
