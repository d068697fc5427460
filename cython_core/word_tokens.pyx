"""Words of a text, split and folded as the OpenSearch analyzer of mappings/opensearch_mapping.py does."""

import array

from cpython cimport array
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef extern from "word_tables.h" nogil:
    ctypedef struct Record "word_record":
        int32_t value  # added to the character gives the folded one; or an index in word_expansions
        uint8_t kind
        uint8_t characters
    # Explained in tools/word_tables.py
    enum: NOTHING, LETTER, EXTENDS, VANISHES, ALONE, APART, KATAKANA, COMPLEX, COMPLEX_MARK, EMOJI_MARK, FLAG
    enum: PAGE_BITS, MAX_FOLDED_BYTES
    const uint16_t[1] word_page_of
    const uint16_t[1] word_record_of
    const Record[1] word_records
    const uint8_t[1] word_expansions

cdef extern from "Python.h":
    object PyUnicode_FromObject(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)

cdef enum:
    MAX_WORD_UNITS = 255  # UTF-16 units; Lucene splits a longer word there
    HALF_FLAG = FLAG + 1  # the kind of an open word that is half a flag

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef array.array OFFSETS = array.array("I")
# The folded form of each ASCII letter and digit; 0 for other characters.
cdef uint8_t[128] ASCII
for _code in range(128):
    ASCII[_code] = <uint8_t>(_code + record_of(_code).value) if record_of(_code).kind == LETTER else 0


def word_tokens(text) -> tuple[list[str], array.array, array.array]:
    """Return the folded words of `text` in order, and the offsets where each starts and ends in the text.

    A word's position is its index. A word of more than 255 characters is split.
    """
    if not isinstance(text, str):
        raise TypeError(f"word_tokens() expects str, got {type(text).__name__}")
    cdef Tokens tokens
    cdef Py_ssize_t i
    cdef uint32_t start = 0
    cdef list words = []
    memset(&tokens, 0, sizeof(tokens))
    try:
        tokenize(PyUnicode_FromObject(text), &tokens)
        for i in range(tokens.count):
            words.append(PyUnicode_DecodeUTF8(tokens.bytes + start, tokens.ends[i] - start, NULL))
            start = tokens.ends[i]
        return words, _array(tokens.first, tokens.count), _array(tokens.last, tokens.count)
    finally:
        free_tokens(&tokens)


cdef array.array _array(const uint32_t* numbers, Py_ssize_t count):
    cdef array.array result = array.clone(OFFSETS, count, zero=False)
    cdef Py_ssize_t i
    for i in range(count):
        result.data.as_uints[i] = numbers[i]
    return result


cdef int tokenize(str text, Tokens* tokens) except -1:
    """Replace the words in `tokens` by those of `text`; the memory is reused for the next text."""
    cdef Py_ssize_t size = len(text)
    cdef const void* source = PyUnicode_DATA(text)
    cdef int width = PyUnicode_KIND(text)
    cdef bint enough
    if size > UINT32_MAX // MAX_FOLDED_BYTES:
        raise ValueError(f"word_tokens() takes at most {UINT32_MAX // MAX_FOLDED_BYTES} characters, got {size}")
    with nogil:
        if width == 1:
            enough = _read(tokens, <const uint8_t*>source, size)
        elif width == 2:
            enough = _read(tokens, <const uint16_t*>source, size)
        else:
            enough = _read(tokens, <const uint32_t*>source, size)
    if not enough:
        raise MemoryError(f"no memory for the words of {size} characters")
    return 0


cdef void free_tokens(Tokens* tokens) noexcept:
    free(tokens.bytes)
    free(tokens.ends)
    free(tokens.first)
    free(tokens.last)


cdef inline const Record* record_of(uint32_t char) noexcept nogil:
    cdef Py_ssize_t page = word_page_of[char >> PAGE_BITS]
    return &word_records[word_record_of[(page << PAGE_BITS) | (char & ((1 << PAGE_BITS) - 1))]]


cdef bint _read(Tokens* tokens, const Char* text, Py_ssize_t size) noexcept nogil:
    """Read the whole text; return False if there is no memory."""
    cdef const Record* record
    cdef Py_ssize_t i = 0, stop
    cdef uint32_t put = 0, char
    cdef int open = NOTHING, units = 0, width  # kind and UTF-16 length of the open word
    tokens.count = 0
    while i < size:
        char = text[i]
        if char < 128 and ASCII[char]:
            if open != LETTER or units == MAX_WORD_UNITS:
                if not _start(tokens, &open, put, i):
                    return False
                open, units = LETTER, 0
            stop = min(size, i + MAX_WORD_UNITS - units)
            units -= i
            while True:
                tokens.bytes[put] = <char>ASCII[char]
                put += 1
                i += 1
                if i == stop:
                    break
                char = text[i]
                if char >= 128 or not ASCII[char]:
                    break
            units += i
            tokens.last[tokens.count] = <uint32_t>i
            continue
        record = record_of(char)
        width = 1 + (char > 0xFFFF)
        if record.kind == NOTHING or (record.kind == FLAG and open != HALF_FLAG and not _is_flag(text, i, size)):
            _end(tokens, &open, put)
        elif record.kind == VANISHES:
            if open:
                tokens.last[tokens.count] = <uint32_t>(i + 1)
        else:
            if not (_continues(open, record.kind) and units + width <= MAX_WORD_UNITS):
                if not _start(tokens, &open, put, i):
                    return False
                open, units = _word_kind(record.kind), 0
            elif open == HALF_FLAG and record.kind == FLAG:
                open = ALONE
            if open:
                put = _put(tokens.bytes, put, char, record)
                tokens.last[tokens.count] = <uint32_t>(i + 1)
                units += width
                if open == APART:
                    _end(tokens, &open, put)
        i += 1
    _end(tokens, &open, put)
    return True


cdef inline bint _continues(int open, uint8_t kind) noexcept nogil:
    """Return whether a character of this kind continues the open word."""
    if kind == EXTENDS or kind == COMPLEX_MARK or kind == EMOJI_MARK:
        return open != NOTHING
    if kind == FLAG:
        return open == HALF_FLAG
    return kind == open and (kind == LETTER or kind == KATAKANA or kind == COMPLEX)


cdef inline int _word_kind(uint8_t kind) noexcept nogil:
    """Return the kind of word that a character of this kind starts."""
    if kind == EXTENDS:
        return NOTHING
    if kind == FLAG:
        return HALF_FLAG
    if kind == COMPLEX_MARK:
        return COMPLEX
    return ALONE if kind == EMOJI_MARK else kind


cdef bint _is_flag(const Char* text, Py_ssize_t at, Py_ssize_t size) noexcept nogil:
    """Return whether the half flag at `at` is followed by its other half."""
    cdef int units = 0, kind = FLAG
    while units <= MAX_WORD_UNITS:
        units += 0 if kind == VANISHES else 1 + (text[at] > 0xFFFF)
        at += 1
        if at == size:
            return False
        kind = record_of(text[at]).kind
        if kind == FLAG:
            return units + 2 <= MAX_WORD_UNITS
        if kind != VANISHES and not _continues(HALF_FLAG, kind):
            return False
    return False


cdef inline bint _start(Tokens* tokens, int* open, uint32_t put, Py_ssize_t at) noexcept nogil:
    """End the open word, if there is one, and reserve space for the longest new one; return False without memory."""
    _end(tokens, open, put)
    if put + MAX_WORD_UNITS * MAX_FOLDED_BYTES > tokens.capacity and not _grow_bytes(tokens, put):
        return False
    if tokens.count == tokens.slots and not _grow_slots(tokens):
        return False
    tokens.first[tokens.count] = <uint32_t>at
    return True


cdef inline void _end(Tokens* tokens, int* open, uint32_t put) noexcept nogil:
    if open[0]:
        tokens.ends[tokens.count] = put
        tokens.count += 1
        open[0] = NOTHING


cdef inline uint32_t _put(char* bytes, uint32_t put, uint32_t char, const Record* record) noexcept nogil:
    """Append the folded form of `char` and return the new end of the bytes."""
    cdef int i
    if record.characters > 1:
        for i in range(record.characters):
            bytes[put + i] = <char>word_expansions[record.value + i]
        return put + record.characters
    char += record.value
    if char < 0x80:
        bytes[put] = <char>char
        return put + 1
    if char < 0x800:
        bytes[put] = <char>(0xC0 | char >> 6)
        bytes[put + 1] = <char>(0x80 | char & 0x3F)
        return put + 2
    if char < 0x10000:
        bytes[put] = <char>(0xE0 | char >> 12)
        bytes[put + 1] = <char>(0x80 | char >> 6 & 0x3F)
        bytes[put + 2] = <char>(0x80 | char & 0x3F)
        return put + 3
    bytes[put] = <char>(0xF0 | char >> 18)
    bytes[put + 1] = <char>(0x80 | char >> 12 & 0x3F)
    bytes[put + 2] = <char>(0x80 | char >> 6 & 0x3F)
    bytes[put + 3] = <char>(0x80 | char & 0x3F)
    return put + 4


cdef bint _grow_bytes(Tokens* tokens, size_t used) noexcept nogil:
    cdef size_t capacity = 2 * (used + MAX_WORD_UNITS * MAX_FOLDED_BYTES)
    cdef char* larger = <char*>realloc(tokens.bytes, capacity)
    if larger == NULL:
        return False
    tokens.bytes, tokens.capacity = larger, capacity
    return True


cdef bint _grow_slots(Tokens* tokens) noexcept nogil:
    cdef Py_ssize_t slots = 2 * tokens.slots + 256
    if not (_grow_array(&tokens.ends, slots) and _grow_array(&tokens.first, slots)
            and _grow_array(&tokens.last, slots)):
        return False
    tokens.slots = slots
    return True


cdef bint _grow_array(uint32_t** numbers, Py_ssize_t slots) noexcept nogil:
    cdef uint32_t* larger = <uint32_t*>realloc(numbers[0], slots * sizeof(uint32_t))
    if larger != NULL:
        numbers[0] = larger
    return larger != NULL
