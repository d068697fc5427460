"""The words of some pages: for each word on which of them it is, how often, and where."""

import array
import os

cimport cython
from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from opensearch_winnow.cython_core.varints cimport LONGEST_NUMBER, LONGEST_PAGE, MOST_PAGES, put_number, put_page
from opensearch_winnow.cython_core.word_blocks cimport Block, compared, fits, free_block, put_word
from opensearch_winnow.cython_core.word_tokens cimport Tokens, free_tokens, tokenize

cdef array.array COUNTS = array.array("I")
# Nobody outside can make many words meet in one slot. No result depends on it.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little") | 1

cdef uint32_t TITLE = 0x80000000  # in a place: it is one of the title

cdef enum:
    FIRST_SLOTS = 1 << 12


cdef struct Word:
    const uint8_t* bytes  # set when no more words come
    size_t start  # in the arena
    uint32_t length
    uint32_t hash
    uint32_t count  # of its tokens
    uint32_t first  # of them, when those of each word are together


cdef struct Token:
    uint32_t page
    uint32_t place


def word_index(pages, titles, texts) -> tuple[list[tuple[str, bytes, bytes]], array.array, array.array]:
    """Blocks with all words, each behind its first word; the number of words of each title, and of each text.

    `pages` are the numbers of the pages in their run, in order.
    """
    cdef _Catalogue catalogue = _Catalogue()
    cdef Py_ssize_t i, count = len(pages)
    cdef array.array title_lengths = array.clone(COUNTS, count, zero=True)
    cdef array.array text_lengths = array.clone(COUNTS, count, zero=True)
    if not (len(titles) == len(texts) == count):
        raise ValueError(f"word_index() wants a title and a text for each of {count} pages")
    before = -1
    for i in range(count):
        page = pages[i]
        if not before < page < MOST_PAGES:
            raise ValueError(f"word_index() wants pages in order, from 0, but {page} follows {before}")
        before = page
        title_lengths.data.as_uints[i] = catalogue.add(titles[i], page, TITLE)
        text_lengths.data.as_uints[i] = catalogue.add(texts[i], page, 0)
    return catalogue.blocks(), title_lengths, text_lengths


@cython.final
cdef class _Catalogue:
    """The different words, and all tokens in the order in which they came."""

    cdef Tokens tokens
    cdef uint8_t* arena
    cdef size_t used, room
    cdef Word* words
    cdef uint32_t word_count, word_room
    cdef uint32_t* slots  # a hash table of words, by their number plus one
    cdef uint32_t slot_mask
    cdef uint32_t* word_of
    cdef Token* token_of
    cdef size_t count, token_room

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
        """How many words it has."""
        cdef bint enough
        tokenize(text, &self.tokens)
        if self.count + self.tokens.count >= UINT32_MAX:
            raise ValueError("word_index() takes fewer words at once")
        with nogil:
            enough = self.keep(page, field)
        if not enough:
            raise MemoryError(f"no memory for {self.count + self.tokens.count} words")
        return <uint32_t>self.tokens.count

    cdef bint keep(self, uint32_t page, uint32_t field) noexcept nogil:
        cdef Py_ssize_t i
        cdef uint32_t start = 0, end, word
        if self.count + self.tokens.count > self.token_room:
            self.token_room = 2 * (self.count + self.tokens.count)
            if not (grown(<void**>&self.word_of, self.token_room * sizeof(uint32_t))
                    and grown(<void**>&self.token_of, self.token_room * sizeof(Token))):
                return False
        for i in range(self.tokens.count):
            end = self.tokens.ends[i]
            word = self.number(<const uint8_t*>self.tokens.bytes + start, end - start)
            if word == UINT32_MAX:
                return False
            self.words[word].count += 1
            self.word_of[self.count] = word
            self.token_of[self.count].page = page
            self.token_of[self.count].place = <uint32_t>i | field
            self.count += 1
            start = end
        return True

    cdef uint32_t number(self, const uint8_t* bytes, uint32_t length) noexcept nogil:
        """Of a word; UINT32_MAX if there is no memory for it."""
        cdef uint32_t hash = hash_of(bytes, length), slot = hash & self.slot_mask
        cdef Word* word
        while self.slots[slot]:
            word = &self.words[self.slots[slot] - 1]
            if word.hash == hash and word.length == length and not memcmp(self.arena + word.start, bytes, length):
                return self.slots[slot] - 1
            slot = (slot + 1) & self.slot_mask
        if self.word_count == self.word_room:
            self.word_room = 2 * self.word_room + 1024
            if not grown(<void**>&self.words, self.word_room * sizeof(Word)):
                return UINT32_MAX
        if self.used + length > self.room:
            self.room = 2 * (self.used + length)
            if not grown(<void**>&self.arena, self.room):
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
        cdef Token* together = <Token*>malloc((self.count + 1) * sizeof(Token))
        cdef uint8_t* buffer = NULL
        cdef uint8_t* places
        cdef uint8_t* pages_end
        cdef Word* word
        cdef Block block
        cdef size_t i, size, most
        cdef list made = []
        memset(&block, 0, sizeof(block))
        try:
            if together == NULL:
                raise MemoryError(f"no memory for {self.count} words")
            most = self.bring_together(together)
            buffer = <uint8_t*>malloc(LONGEST_NUMBER + most * (LONGEST_PAGE + LONGEST_NUMBER) + 1)
            if buffer == NULL:
                raise MemoryError(f"no memory for the places of a word that comes {most} times")
            for i in range(self.word_count):
                word = &self.words[i]
                places = buffer + LONGEST_NUMBER + word.count * LONGEST_PAGE
                size = encode(together + word.first - word.count, word.count, buffer, places, &pages_end)
                if block.used and not fits(&block, word.length, pages_end - buffer, size):
                    made.append(taken(&block))
                if not put_word(&block, word.bytes, word.length, buffer, pages_end - buffer, places, size):
                    raise MemoryError("no memory for a block of words")
            if block.used:
                made.append(taken(&block))
            return made
        finally:
            free_block(&block)
            free(together)
            free(buffer)

    cdef size_t bring_together(self, Token* together) noexcept nogil:
        """The tokens of each word, and sort the words. How often the commonest word comes."""
        cdef size_t i, first = 0, most = 0
        cdef Word* word
        for i in range(self.word_count):
            self.words[i].first = <uint32_t>first
            self.words[i].bytes = self.arena + self.words[i].start
            first += self.words[i].count
            most = max(most, self.words[i].count)
        for i in range(self.count):
            word = &self.words[self.word_of[i]]
            together[word.first] = self.token_of[i]
            word.first += 1
        if self.word_count:
            qsort(self.words, self.word_count, sizeof(Word), by_word)
        return most


cdef tuple taken(Block* block):
    """The block, as it is stored; it is empty then."""
    made = (
        PyUnicode_DecodeUTF8(<const char*>block.first, block.first_length, NULL),
        PyBytes_FromStringAndSize(<const char*>block.words, block.used),
        PyBytes_FromStringAndSize(<const char*>block.places, block.places_used))
    block.used = block.places_used = 0
    return made


cdef size_t encode(
    const Token* token, uint32_t count, uint8_t* pages, uint8_t* places, uint8_t** pages_end
) noexcept nogil:
    """Both as cython_core/varints.pxd says; how many bytes the places take."""
    cdef const Token* end = token + count
    cdef uint8_t* start = places
    cdef uint32_t page, last = 0, place, before, in_title, in_text
    pages = put_number(pages, end[-1].page)
    while token < end:
        page = token.page
        in_title = in_text = before = 0
        while token < end and token.page == page and token.place & TITLE:
            place = token.place ^ TITLE
            places = put_number(places, place - before)
            before = place
            in_title += 1
            token += 1
        before = 0
        while token < end and token.page == page:
            places = put_number(places, token.place - before)
            before = token.place
            in_text += 1
            token += 1
        pages = put_page(pages, page - last, in_title, in_text)
        last = page
    pages_end[0] = pages
    return places - start


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
    return compared(x.bytes, x.length, y.bytes, y.length)


cdef bint grown(void** memory, size_t size) noexcept nogil:
    cdef void* larger = realloc(memory[0], size)
    if larger != NULL:
        memory[0] = larger
    return larger != NULL
