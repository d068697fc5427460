"""Which pages of a run have what is looked for, and how relevant they are: BM25, as Lucene computes it."""

import array

cimport cython
from cpython cimport array
from libc.math cimport log
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from opensearch_winnow.cython_core.varints cimport Pages, next_page, number_at, open_pages, skip_numbers

cdef array.array NUMBERS = array.array("I")
cdef array.array SCORES = array.array("f")
cdef str NO_SENSE = "the pages of a word make no sense"

cdef enum:
    UNWANTED = 0xFFFF
    # Lengths of up to so many words are told exactly, and longer ones by four binary digits.
    EXACT = 24
    IN_TITLE = 1
    IN_TEXT = 2


def short_length(number) -> int:
    """The number of words of a text as one byte: as Lucene keeps it."""
    cdef uint32_t length = number, over
    cdef int shift = 0
    if length < EXACT:
        return length
    over = length - EXACT
    while over >> shift > 15:
        shift += 1
    return EXACT + (over if over < 8 else (over >> shift & 7) | (shift + 1) << 3)


cdef float length_of(int short) noexcept nogil:
    cdef int over = short - EXACT
    if over < 8:
        return <float>short
    return <float>(EXACT + (<long long>(over & 7 | 8) << ((over >> 3) - 1)))


@cython.final
cdef class Bm25:
    """How relevant a word, or a phrase, makes a page whose title, or text, has it so many times, and is so long.

    `pages` have a word in that field at all, and `words` all together; each word of the phrase is on so many of them.
    """

    cdef float weight
    cdef float[256] inverse  # by the length of the field

    def __init__(self, double boost, pages, words, frequencies):
        cdef double idf = 0.0
        cdef float average, k1 = 1.2, b = 0.75
        cdef double there = pages, frequency
        cdef int short
        for number in frequencies:
            frequency = number
            idf += <float>log(1.0 + (there - frequency + 0.5) / (frequency + 0.5))
        self.weight = <float>boost * <float>idf
        average = <float>(<double>words / there) if there else <float>1.0
        for short in range(256):
            self.inverse[short] = <float>1.0 / (k1 * ((<float>1.0 - b) + b * length_of(short) / average))

    cdef inline float score(self, uint32_t frequency, uint8_t length) noexcept nogil:
        return self.weight - self.weight / (<float>1.0 + <float>frequency * self.inverse[length])


@cython.final
cdef class Board:
    """The pages of a run, with what they have scored so far.

    What is added are alternatives, until `require` ends them: a page has to have one of them. What `refuse` ends must
    not be there. Lengths and `gone` have a byte for each page.
    """

    cdef readonly Py_ssize_t size
    cdef bytes title_lengths, text_lengths, gone
    cdef uint16_t required
    cdef double* total  # of what was required
    cdef double* part  # of the alternatives
    cdef uint8_t* here  # whether there is one of them
    cdef uint16_t* met  # how much of what was required is there

    def __cinit__(self, bytes title_lengths not None, bytes text_lengths not None, bytes gone=None):
        self.size = len(title_lengths)
        if len(text_lengths) != self.size or (gone is not None and len(gone) != self.size):
            raise ValueError("Board() wants a length for each title and each text")
        self.title_lengths, self.text_lengths, self.gone = title_lengths, text_lengths, gone
        self.total = <double*>calloc(self.size + 1, sizeof(double))
        self.part = <double*>calloc(self.size + 1, sizeof(double))
        self.here = <uint8_t*>calloc(self.size + 1, sizeof(uint8_t))
        self.met = <uint16_t*>calloc(self.size + 1, sizeof(uint16_t))
        if self.total == NULL or self.part == NULL or self.here == NULL or self.met == NULL:
            raise MemoryError(f"no memory for the scores of {self.size} pages")

    def __dealloc__(self):
        free(self.total)
        free(self.part)
        free(self.here)
        free(self.met)

    def add_word(self, bytes pages not None, Bm25 title not None, Bm25 text not None) -> None:
        cdef const uint8_t* start = <const uint8_t*><const char*>pages
        cdef const uint8_t* title_lengths = <const uint8_t*><const char*>self.title_lengths
        cdef const uint8_t* text_lengths = <const uint8_t*><const char*>self.text_lengths
        cdef Pages page
        cdef int more = -1
        if open_pages(&page, start, start + len(pages)):
            with nogil:
                while True:
                    more = next_page(&page)
                    if more < 1:
                        break
                    if page.page >= self.size:
                        more = -1
                        break
                    self.here[page.page] = 1
                    if page.in_title:
                        self.part[page.page] += title.score(page.in_title, title_lengths[page.page])
                    if page.in_text:
                        self.part[page.page] += text.score(page.in_text, text_lengths[page.page])
        if more < 0:
            raise ValueError(NO_SENSE)

    def add_start(self, many, float title, float text) -> None:
        """All words that start so, by the pages of each. In title and text they count so much, however many."""
        cdef uint8_t* where = <uint8_t*>calloc(self.size + 1, 1)
        cdef const uint8_t* start
        cdef Pages page
        cdef bytes pages
        cdef Py_ssize_t i
        cdef int more = 0
        if where == NULL:
            raise MemoryError(f"no memory for {self.size} pages")
        try:
            for pages in many:
                start = <const uint8_t*><const char*>pages
                if not open_pages(&page, start, start + len(pages)):
                    raise ValueError(NO_SENSE)
                with nogil:
                    while True:
                        more = next_page(&page)
                        if more < 1:
                            break
                        if page.page >= self.size:
                            more = -1
                            break
                        where[page.page] |= (IN_TITLE if page.in_title else 0) | (IN_TEXT if page.in_text else 0)
                if more < 0:
                    raise ValueError(NO_SENSE)
            for i in range(self.size):
                if where[i]:
                    self.here[i] = 1
                    self.part[i] += (title if where[i] & IN_TITLE else 0.0) + (text if where[i] & IN_TEXT else 0.0)
        finally:
            free(where)

    def add_phrase(self, words, order, Bm25 title not None, Bm25 text not None) -> None:
        """Words that follow each other: the pages and places of each different one, and which of them comes when."""
        cdef _Phrase phrase = _Phrase(words, order)
        cdef const uint8_t* title_lengths = <const uint8_t*><const char*>self.title_lengths
        cdef const uint8_t* text_lengths = <const uint8_t*><const char*>self.text_lengths
        cdef uint32_t in_title, in_text
        while phrase.next():
            if phrase.page >= <size_t>self.size:
                raise ValueError(NO_SENSE)
            in_title, in_text = phrase.frequency(IN_TITLE), phrase.frequency(IN_TEXT)
            if in_title:
                self.part[phrase.page] += title.score(in_title, title_lengths[phrase.page])
            if in_text:
                self.part[phrase.page] += text.score(in_text, text_lengths[phrase.page])
            if in_title or in_text:
                self.here[phrase.page] = 1

    def add_board(self, Board other not None) -> None:
        """What meets all that another board, of the same pages, requires."""
        cdef Py_ssize_t i
        if other.size != self.size:
            raise ValueError("add_board() wants a board of the same pages")
        with nogil:
            for i in range(self.size):
                if other.met[i] == other.required:
                    self.here[i] = 1
                    self.part[i] += <float>other.total[i]

    def require(self) -> None:
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.size):
                if self.here[i] and self.met[i] == self.required:
                    self.met[i] += 1
                    self.total[i] += <float>self.part[i]
            self._forget()
            self.required += 1

    def refuse(self) -> None:
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.size):
                if self.here[i]:
                    self.met[i] = UNWANTED
            self._forget()

    cdef void _forget(self) noexcept nogil:
        memset(self.part, 0, self.size * sizeof(double))
        memset(self.here, 0, self.size)

    def found(self, first) -> tuple[array.array, array.array]:
        """The pages that meet all that is required, counted from a number, and their scores."""
        cdef array.array numbers = array.clone(NUMBERS, self.size, zero=False)
        cdef array.array scores = array.clone(SCORES, self.size, zero=False)
        cdef const uint8_t* gone = NULL
        cdef uint32_t start = first
        cdef Py_ssize_t i, count = 0
        if self.gone is not None:
            gone = <const uint8_t*><const char*>self.gone
        with nogil:
            for i in range(self.size):
                if self.met[i] == self.required and (gone == NULL or not gone[i]):
                    numbers.data.as_uints[count] = start + <uint32_t>i
                    scores.data.as_floats[count] = <float>self.total[i]
                    count += 1
        array.resize(numbers, count)
        array.resize(scores, count)
        return numbers, scores


cdef struct Cursor:
    Pages pages
    const uint8_t* places  # of the page
    const uint8_t* next_places
    const uint8_t* end


@cython.final
cdef class _Phrase:
    """Finds pages that have all of some words, and how often these follow each other there."""

    cdef list kept  # the bytes that the cursors point into
    cdef Cursor* cursors
    cdef Py_ssize_t words
    cdef Py_ssize_t length
    cdef uint32_t* order
    cdef uint32_t* starts  # where the phrase may begin
    cdef size_t room
    cdef readonly uint32_t page

    def __cinit__(self, words, order):
        cdef Py_ssize_t i
        cdef bytes pages, places
        self.kept = list(words)
        self.words, self.length = len(self.kept), len(order)
        self.cursors = <Cursor*>calloc(self.words + 1, sizeof(Cursor))
        self.order = <uint32_t*>calloc(self.length + 1, sizeof(uint32_t))
        if self.cursors == NULL or self.order == NULL:
            raise MemoryError(f"no memory for a phrase of {self.length} words")
        if not self.length:
            raise ValueError("add_phrase() wants at least one word")
        for i in range(self.length):
            if not 0 <= order[i] < self.words:
                raise ValueError(f"add_phrase() has no word {order[i]}")
            self.order[i] = order[i]
        for i in range(self.words):
            pages, places = self.kept[i]
            if not open_pages(&self.cursors[i].pages, <const uint8_t*><const char*>pages,
                              <const uint8_t*><const char*>pages + len(pages)):
                raise ValueError(NO_SENSE)
            self.cursors[i].next_places = <const uint8_t*><const char*>places
            self.cursors[i].end = self.cursors[i].next_places + len(places)

    def __dealloc__(self):
        free(self.cursors)
        free(self.order)
        free(self.starts)

    cdef bint next(self) except -1:
        """Go to the next page that has all the words."""
        cdef int more
        with nogil:
            more = self._next()
        if more < 0:
            raise ValueError(NO_SENSE)
        return more

    cdef int _next(self) noexcept nogil:
        cdef Py_ssize_t i = 0, agreeing = 0
        cdef int more = _advance(&self.cursors[0])
        if more < 1:
            return more
        self.page = self.cursors[0].pages.page
        while agreeing < self.words:
            while not self.cursors[i].pages.begun or self.cursors[i].pages.page < self.page:
                more = _advance(&self.cursors[i])
                if more < 1:
                    return more
            if self.cursors[i].pages.page > self.page:
                self.page = self.cursors[i].pages.page
                agreeing = 0
            agreeing += 1
            i = (i + 1) % self.words
        return 1

    cdef uint32_t frequency(self, int field) except? 0xFFFFFFFF:
        """How often the phrase is in the title, or the text, of the page."""
        cdef Pages* first = &self.cursors[self.order[0]].pages
        cdef size_t most = first.in_title if field == IN_TITLE else first.in_text
        cdef Py_ssize_t i
        cdef long long found
        # A place takes a byte at least: no more room than there are bytes, whatever the numbers say.
        if most > <size_t>(self.cursors[self.order[0]].next_places - self.cursors[self.order[0]].places):
            raise ValueError(NO_SENSE)
        if most > self.room:
            self.starts = <uint32_t*>_larger(self.starts, 2 * most * sizeof(uint32_t))
            self.room = 2 * most
        with nogil:
            found = self._starts(field)
            for i in range(1, self.length):
                if found > 0:
                    found = self._followed(field, i, found)
        if found < 0:
            raise ValueError(NO_SENSE)
        return <uint32_t>found

    cdef long long _starts(self, int field) noexcept nogil:
        cdef Cursor* cursor = &self.cursors[self.order[0]]
        cdef uint32_t i, count, place = 0, distance = 0
        cdef const uint8_t* at = _field(cursor, field, &count)
        for i in range(count):
            at = number_at(at, cursor.end, &distance)
            if at == NULL:
                return -1
            place += distance
            self.starts[i] = place
        return count

    cdef long long _followed(self, int field, Py_ssize_t index, long long found) noexcept nogil:
        """Of the places where the phrase may begin keep those that its word `index` is behind."""
        cdef Cursor* cursor = &self.cursors[self.order[index]]
        cdef uint32_t count, place = 0, distance = 0
        cdef long long j = 0, kept = 0
        cdef const uint8_t* at = _field(cursor, field, &count)
        for _ in range(count):
            at = number_at(at, cursor.end, &distance)
            if at == NULL:
                return -1
            place += distance
            while j < found and self.starts[j] + index < place:
                j += 1
            if j == found:
                break
            if self.starts[j] + index == place:
                self.starts[kept] = self.starts[j]
                kept += 1
                j += 1
        return kept


cdef int _advance(Cursor* cursor) noexcept nogil:
    cdef int more = next_page(&cursor.pages)
    cursor.places = cursor.next_places
    if more == 1:
        cursor.next_places = skip_numbers(
            cursor.places, cursor.end, <size_t>cursor.pages.in_title + cursor.pages.in_text)
        if cursor.next_places == NULL:
            return -1
    return more


cdef const uint8_t* _field(Cursor* cursor, int field, uint32_t* count) noexcept nogil:
    """Where its places in the title, or in the text, are, and how many."""
    if field == IN_TITLE:
        count[0] = cursor.pages.in_title
        return cursor.places
    count[0] = cursor.pages.in_text
    return skip_numbers(cursor.places, cursor.end, cursor.pages.in_title)


cdef void* _larger(void* memory, size_t size) except NULL:
    cdef void* larger = realloc(memory, size)
    if larger == NULL:
        raise MemoryError("no memory for the places of a phrase")
    return larger
