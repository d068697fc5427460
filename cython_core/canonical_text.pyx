"""Canonical text: letters and digits only, folded to one form, with a map back to offsets in the original text."""

import array

cimport cython
from cpython cimport array
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from cpython.object cimport PyObject
from libc.stdint cimport UINT32_MAX, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from opensearch_winnow.cython_core.canonical_chars cimport (
    OWN_WORD, EXPANDS, COMPOSES, ALNUM, FOLDED_IOTA, IOTA, MARK, MAX_CHARS_PER_CHAR, SEPARATOR, VOWEL,
    Draft, Record, drop_first, pages_of, put_char, record_in, record_of, settle, settled_length, unicode_expansions,
)
from opensearch_winnow.cython_core.vectors cimport avx2

cdef extern from "ascii_text.h" nogil:
    enum: SPARE
    ctypedef struct AsciiText:
        const void* text
        Py_ssize_t at, stop
        void* chars
        uint32_t* offsets
        Py_ssize_t length
        uint32_t* words
        Py_ssize_t word_count
        uint32_t before
        bint in_word
    void prepare_ascii()
    void read_ascii_avx2(AsciiText*, int width)

cdef extern from "Python.h":
    PyObject* PyUnicode_New(Py_ssize_t size, Py_UCS4 largest) except NULL
    int PyUnicode_Resize(PyObject** string, Py_ssize_t length) except -1
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t size)
    object PyUnicode_FromObject(object text)
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    void* raw_data "PyUnicode_DATA" (PyObject* text)
    void Py_XDECREF(PyObject* value)

NORMALISATION = 1  # version of the rule and its tables; part of a scheme's id, because it decides every hash

cdef enum:
    # Characters read without the GIL in one go: enough for nearly every page, and few enough that a draft (16 bytes per
    # character) stays in the processor's cache.
    BLOCK = 1 << 16
    # Characters read one by one after a run of ASCII, before the vector loop is tried again. The pause doubles each
    # time the loop finds nothing, up to MAX_PAUSE.
    FIRST_PAUSE = 16
    MAX_PAUSE = 256

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef array.array POSITIONS = array.array("I")
# For each ASCII character its mapped character in the low byte and ALNUM, SEPARATOR or 0 in the high byte. The first
# index is fold_confusables, the second consonants.
cdef uint16_t[2][2][128] ASCII
cdef const Record* _record
for _fold in range(2):
    for _code in range(128):
        _record = record_in(pages_of(_fold), _code)
        ASCII[_fold][0][_code] = <uint16_t>(_code + _record.value | (_record.bits & (ALNUM | SEPARATOR)) << 8)
        ASCII[_fold][1][_code] = 0 if _record.bits & VOWEL else ASCII[_fold][0][_code]


prepare_ascii()


def canonical_text(text, *, bint consonants=False, bint fold_confusables=False) -> CanonicalText:
    """Return the canonical form of `text`.

    Every character is replaced by its compatibility-normalised, case-folded form. Letters, numbers and their marks
    stay, composed (NFC). All other characters are dropped and end a word, except that soft hyphens, zero-width and
    other ignorable characters vanish without ending one. With `consonants` the letters a, e, i, o, u are dropped too,
    with their marks, and do not end a word. With `fold_confusables` letters that look alike (UTS #39) are one.

    Takes up to 2**32 - 1 characters. Memory besides the text: while it runs, a byte per character for ASCII, else twice
    the canonical characters (1, 2 or 4 bytes each, as the widest of them needs), and 6 bytes per word; afterwards the
    canonical characters and 4 bytes per word.
    """
    if not isinstance(text, str):
        hint = ": decode it first" if isinstance(text, (bytes, bytearray, memoryview)) else ""
        raise TypeError(f"canonical_text() expects str, got {type(text).__name__}{hint}")
    return CanonicalText.__new__(CanonicalText, PyUnicode_FromObject(text), consonants, fold_confusables)


@cython.final
cdef class CanonicalText:
    """The canonical characters of a text, the starts of its words, and the offset in the text of each character."""

    def __cinit__(self, str text not None, bint consonants=False, bint fold_confusables=False):
        if len(text) > UINT32_MAX:
            raise ValueError(f"canonical_text() takes at most {UINT32_MAX} characters, got {len(text)}")
        self.text = text
        self.consonants, self.fold_confusables = consonants, fold_confusables
        self.words = array.clone(POSITIONS, 0, zero=False)
        self.chars = read_ascii(self) if PyUnicode_IS_ASCII(text) else read(self, self.words, NULL)

    @classmethod
    def from_parts(cls, text, chars, words, offsets, ends) -> CanonicalText:
        """Build a canonical text made by another rule: canonical character i came from text[offsets[i]:ends[i]].

        `words` are the indices in `chars` where words start, the first at 0. All three arrays have typecode 'I', never
        decrease, and are copied.
        """
        for name, part in (("text", text), ("chars", chars)):
            if not isinstance(part, str):
                raise TypeError(f"from_parts() expects {name} to be str, got {type(part).__name__}")
        for name, part in (("words", words), ("offsets", offsets), ("ends", ends)):
            if not (isinstance(part, array.array) and part.typecode == "I"):
                raise TypeError(
                    f"from_parts() expects {name} to be an array of typecode 'I', got {type(part).__name__}")
        cdef CanonicalText canonical = CanonicalText.__new__(CanonicalText, "")
        canonical.text, canonical.chars = PyUnicode_FromObject(text), PyUnicode_FromObject(chars)
        canonical.words, canonical._offsets, canonical._ends = words[:], offsets[:], ends[:]
        check_parts(canonical)
        return canonical

    @property
    def offsets(self) -> array.array:
        """For each canonical character the offset in the text of the first character it came from (typecode 'I').

        Offsets never decrease. They are computed on first use, at 4 bytes per character, and cached.
        """
        cdef array.array offsets
        if self._offsets is None:
            offsets = array.clone(POSITIONS, len(self.chars) + 1, zero=False)  # + 1: the loop writes one more
            if PyUnicode_IS_ASCII(self.text):
                ascii_offsets(self, offsets.data.as_uints)
            else:
                read(self, None, offsets.data.as_uints)
            array.resize(offsets, len(self.chars))
            with cython.critical_section(self):  # another thread may have stored its own array, and be reading it
                if self._offsets is None:
                    self._offsets = offsets
        return self._offsets

    def span(self, start, end) -> tuple[int, int]:
        """Return the span of the text that the canonical characters [start, end) came from, as (start, end).

        That part of the text has the same canonical characters again, unless the range begins or ends inside the
        expansion of one character or among the marks of one base. Dropped characters on either side are not in the
        span. An empty range gives an empty span.
        """
        if not (isinstance(start, int) and isinstance(end, int)):
            raise TypeError(f"span() expects two ints, got {type(start).__name__} and {type(end).__name__}")
        if not 0 <= start <= end <= len(self.chars):
            raise ValueError(f"span() expects a range of {len(self.chars)} canonical characters, got [{start}, {end})")
        return span_of(self, self.offsets, start, end)

    def spans(self, starts, length) -> list[tuple[int, int]]:
        """Return the span of [start, start + length) for each of `starts`."""
        cdef list spans = []
        for start in starts:
            spans.append(self.span(start, start + length))
        return spans


cdef void check_parts(CanonicalText canonical) except *:
    cdef Py_ssize_t i, size = len(canonical.chars), count = len(canonical.words)
    cdef const uint32_t* words = canonical.words.data.as_uints
    cdef const uint32_t* offsets = canonical._offsets.data.as_uints
    cdef const uint32_t* ends = canonical._ends.data.as_uints
    if not len(canonical._offsets) == len(canonical._ends) == size:
        raise ValueError(
            f"from_parts() expects an offset and an end for each of {size} canonical characters, "
            f"got {len(canonical._offsets)} and {len(canonical._ends)}")
    if (count > 0) != (size > 0) or count and (words[0] != 0 or words[count - 1] >= size):
        raise ValueError(f"from_parts() expects words to start in {size} canonical characters, the first at 0")
    for i in range(1, count):
        if words[i - 1] >= words[i]:
            raise ValueError(f"from_parts() expects words of at least one character, but word {i - 1} has none")
    for i in range(size):
        if not offsets[i] < ends[i] <= <size_t>len(canonical.text) or (
                i and (offsets[i] < offsets[i - 1] or ends[i] < ends[i - 1])):
            raise ValueError(
                f"from_parts() expects sources in the order of the text, but canonical character {i} "
                f"has [{offsets[i]}, {ends[i]})")


cdef tuple span_of(CanonicalText canonical, array.array offsets, Py_ssize_t start, Py_ssize_t end):
    cdef const uint32_t* offset_of = offsets.data.as_uints
    if start < end:
        return offset_of[start], source_end(canonical, offsets, end - 1)
    if start < len(offsets):
        return offset_of[start], offset_of[start]
    start = source_end(canonical, offsets, start - 1) if start else 0
    return start, start


cdef Py_ssize_t source_end(CanonicalText canonical, array.array offsets, Py_ssize_t i) noexcept:
    """Return the end in the text of the source of canonical character `i`, without dropped characters after it."""
    if canonical._ends is not None:
        return canonical._ends.data.as_uints[i]
    cdef Py_ssize_t offset = offsets.data.as_uints[i]
    cdef Py_ssize_t stop = len(canonical.text) if i + 1 == len(offsets) else offsets.data.as_uints[i + 1]
    cdef Py_ssize_t end = offset + 1
    cdef const uint16_t* page_of = pages_of(canonical.fold_confusables)
    cdef const Record* record
    cdef bint attached = True
    while offset < stop:
        record = record_in(page_of, canonical.text[offset])
        offset += 1
        if record.bits & EXPANDS:  # its last part decides whether marks after it are kept
            record = record_of(unicode_expansions[record.value + unicode_expansions[record.value]])
        if record.bits & SEPARATOR or record.bits & VOWEL and canonical.consonants:
            attached = False
        elif record.bits & ALNUM:
            attached = True
        if attached and record.bits:
            end = offset
    return end


cdef str read_ascii(CanonicalText canonical):
    """Return the canonical characters of an ASCII text and put the starts of its words into `canonical.words`."""
    cdef Py_ssize_t size = len(canonical.text)
    cdef array.array words = canonical.words
    cdef const uint16_t* ascii_of = ASCII[canonical.fold_confusables][canonical.consonants]
    cdef PyObject* made = PyUnicode_New(size, 127)
    cdef AsciiText ascii
    memset(&ascii, 0, sizeof(ascii))
    ascii.text = PyUnicode_DATA(canonical.text)
    ascii.chars = raw_data(made)
    try:
        while ascii.at < size:
            ascii.stop = min(ascii.at + BLOCK, size)
            array.resize_smart(words, ascii.word_count + (ascii.stop - ascii.at) // 2 + 2 + SPARE)
            ascii.words = words.data.as_uints
            with nogil:
                if avx2 and ascii_of == ASCII[0][0]:
                    read_ascii_avx2(&ascii, 1)
                read_ascii_rest(&ascii, ascii_of)
        array.resize(words, ascii.word_count)
        PyUnicode_Resize(&made, ascii.length)
        return <str>made
    finally:
        Py_XDECREF(made)


cdef void read_ascii_rest(AsciiText* ascii, const uint16_t* ascii_of) noexcept nogil:
    """Read up to `ascii.stop` without branches: every character is written, and the next overwrites a dropped one."""
    cdef Py_ssize_t put = ascii.length
    cdef const uint8_t* text = <const uint8_t*>ascii.text
    cdef uint8_t* chars = <uint8_t*>ascii.chars
    cdef uint32_t* word = ascii.words + ascii.word_count
    cdef uint32_t bits, mapped, last = ALNUM if ascii.in_word else SEPARATOR
    for ascii.at in range(ascii.at, ascii.stop):
        mapped = ascii_of[text[ascii.at]]
        bits = mapped >> 8
        chars[put] = <uint8_t>mapped
        word[0] = <uint32_t>put
        word += bits & last >> 2 & 1  # 1 for ALNUM after SEPARATOR
        put += bits & ALNUM
        last = bits if bits else last
    ascii.at = ascii.stop
    ascii.length = put
    ascii.word_count = word - ascii.words
    ascii.in_word = last & ALNUM


cdef void ascii_offsets(CanonicalText canonical, uint32_t* offsets) noexcept:
    cdef Py_ssize_t i, size = len(canonical.text), put = 0
    cdef const uint8_t* source = <const uint8_t*>PyUnicode_DATA(canonical.text)
    cdef const uint16_t* ascii_of = ASCII[canonical.fold_confusables][canonical.consonants]
    with nogil:
        for i in range(size):
            offsets[put] = <uint32_t>i
            put += ascii_of[source[i]] >> 8 & ALNUM


cdef str read(CanonicalText canonical, array.array words, uint32_t* offsets):
    """Return the canonical characters of any text and put the starts of its words into `words`.

    If `offsets` is not NULL, only fill `offsets`.
    """
    cdef Py_ssize_t start = 0, size = len(canonical.text), count
    cdef int width = PyUnicode_KIND(canonical.text)
    cdef const void* source = PyUnicode_DATA(canonical.text)
    cdef list parts = []
    cdef Draft draft
    memset(&draft, 0, sizeof(draft))
    draft.marks_end = -1
    draft.consonants = canonical.consonants
    draft.page_of = pages_of(canonical.fold_confusables)
    draft.iota = <uint32_t>(FOLDED_IOTA if canonical.fold_confusables else IOTA)
    draft.word_ended = True
    try:
        enlarge(&draft, min(size, BLOCK) + MAX_CHARS_PER_CHAR)
        while True:
            with nogil:
                if width == 1:
                    start = read_block(&draft, <const uint8_t*>source, start, size)
                elif width == 2:
                    start = read_block(&draft, <const uint16_t*>source, start, size)
                else:
                    start = read_block(&draft, <const uint32_t*>source, start, size)
                if start == size and draft.unsettled:
                    settle(&draft)
                count = draft.length if start == size else settled_length(&draft)
            if draft.before + draft.length > UINT32_MAX:
                raise ValueError(f"canonical_text() makes at most {UINT32_MAX} characters, and this text has more")
            if offsets != NULL:
                memcpy(offsets + draft.before, draft.offsets, count * sizeof(uint32_t))
            else:
                parts.append(PyUnicode_FromKindAndData(4, draft.chars, count))
                array.extend_buffer(words, <char*>draft.words, draft.word_count)
            drop_first(&draft, count)
            if start == size:
                break
            if count < draft.capacity // 2:  # a base with very many marks
                enlarge(&draft, 2 * draft.capacity)
        if words is not None:
            array.resize(words, len(words))  # release the memory that it grew ahead
        return "".join(parts)
    finally:
        PyMem_RawFree(draft.chars)
        PyMem_RawFree(draft.offsets)
        PyMem_RawFree(draft.words)
        PyMem_RawFree(draft.spare)


cdef void enlarge(Draft* draft, Py_ssize_t capacity) except *:
    draft.chars = <uint32_t*>enlarged(draft.chars, capacity)
    draft.offsets = <uint32_t*>enlarged(draft.offsets, capacity)
    draft.words = <uint32_t*>enlarged(draft.words, capacity)
    draft.spare = <uint32_t*>enlarged(draft.spare, capacity)
    draft.capacity = capacity


cdef Py_ssize_t read_block(Draft* draft, const Char* text, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Read characters until the text ends or the draft is full, and return the index after the last one.

    There are three paths. Runs of ASCII, which texts of most scripts have, go through the vector loop. Letters that map
    to one letter, and dropped characters, go without branches: every character is written, and the next overwrites a
    dropped one. Marks, expansions and composing characters go through put_char().
    """
    cdef uint32_t* chars = draft.chars
    cdef uint32_t* offsets = draft.offsets
    cdef uint32_t* words = draft.words
    cdef uint32_t before = <uint32_t>draft.before
    cdef Py_ssize_t length = draft.length, full = draft.capacity - MAX_CHARS_PER_CHAR
    cdef const uint16_t* page_of = draft.page_of
    cdef bint plain = page_of == pages_of(False) and not draft.consonants  # the vector loop can read it
    cdef Py_ssize_t try_ascii = start if avx2 and plain else stop, pause = FIRST_PAUSE
    cdef uint32_t word_count = draft.word_count
    cdef uint8_t long_way = MARK | COMPOSES | EXPANDS | (VOWEL if draft.consonants else 0)
    cdef uint32_t bits, last = last_bits(draft)  # of the last character that did not vanish
    cdef const Record* record
    cdef AsciiText ascii
    while start < stop and length <= full:
        if start >= try_ascii and not draft.unsettled:
            ascii = AsciiText(
                text, start, min(stop, start + full - length), chars, offsets, length, words, word_count, before,
                last & (OWN_WORD | SEPARATOR) == 0,
            )
            read_ascii_avx2(&ascii, sizeof(Char))
            if ascii.at > start:
                start, length, word_count = ascii.at, ascii.length, <uint32_t>ascii.word_count
                last = ALNUM if ascii.in_word else SEPARATOR
                pause = FIRST_PAUSE
                continue
            try_ascii = start + pause
            pause = min(2 * pause, <Py_ssize_t>MAX_PAUSE)
        record = record_in(page_of, text[start])
        bits = record.bits
        if bits & long_way or draft.unsettled:
            draft.length, draft.word_count = length, word_count
            draft.word_ended, draft.attached = last & (OWN_WORD | SEPARATOR) != 0, last & ALNUM
            put_char(draft, text[start], <uint32_t>start)
            length, word_count, last = draft.length, draft.word_count, last_bits(draft)
        else:
            chars[length] = text[start] + record.value
            offsets[length] = <uint32_t>start
            words[word_count] = before + <uint32_t>length
            # A word starts at an ALNUM that is OWN_WORD, or that follows OWN_WORD or SEPARATOR.
            word_count += bits & (bits >> 1 | last >> 1 | last >> 2) & 1
            length += bits & ALNUM
            last = bits if bits else last
        start += 1
    draft.length, draft.word_count = length, word_count
    draft.word_ended, draft.attached = last & (OWN_WORD | SEPARATOR) != 0, last & ALNUM
    return start


cdef inline uint32_t last_bits(const Draft* draft) noexcept nogil:
    return (ALNUM if draft.attached else 0) | (SEPARATOR if draft.word_ended else 0)


cdef void* enlarged(void* block, Py_ssize_t capacity) except NULL:
    cdef void* larger = PyMem_RawRealloc(block, capacity * sizeof(uint32_t))
    if larger == NULL:
        raise MemoryError(f"canonical_text() could not get {capacity * sizeof(uint32_t)} bytes")
    return larger
