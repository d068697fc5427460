"""Full-text search in a segment: pages that match a boolean query of words, with BM25 scores computed as in Lucene."""

import array

cimport cython
from cpython cimport array
from libc.math cimport log
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from opensearch_winnow.cython_core.varints cimport (
    PostingsCursor, next_posting, open_postings, read_varint, skip_varints,
)

cdef array.array NUMBERS = array.array("I")
cdef array.array SCORES = array.array("f")
cdef str CORRUPT = "the word index is corrupt"

cdef enum:
    EXCLUDED = 0xFFFF
    # A length below this is its own code; of a longer one, the four highest binary digits of the excess are kept.
    EXACT_LENGTHS = 24
    IN_TITLE = 1
    IN_TEXT = 2


def encode_length(number) -> int:
    """Encode a field's number of words in one byte, as Lucene does (SmallFloat.intToByte4)."""
    cdef uint32_t length = number, over
    cdef int shift = 0
    if length < EXACT_LENGTHS:
        return length
    over = length - EXACT_LENGTHS
    while over >> shift > 15:
        shift += 1
    return EXACT_LENGTHS + (over if over < 8 else (over >> shift & 7) | (shift + 1) << 3)


cdef float decode_length(int encoded) noexcept nogil:
    cdef int over = encoded - EXACT_LENGTHS
    if over < 8:
        return <float>encoded
    return <float>(EXACT_LENGTHS + (<long long>(over & 7 | 8) << ((over >> 3) - 1)))


@cython.final
cdef class Bm25:
    """The BM25 weight of a word or phrase in one field, title or text, with k1 = 1.2 and b = 0.75.

    `doc_count` pages have a word in this field, with `total_length` words in all: avgdl is their quotient. `dfs` are
    the document frequencies of the words of the phrase; their idf is summed.
    """

    cdef float weight
    cdef float[256] inverse_norm  # 1 / (k1 * (1 - b + b * dl / avgdl)), by encoded length

    def __init__(self, double boost, doc_count, total_length, dfs):
        cdef double idf = 0.0
        cdef float avgdl, k1 = 1.2, b = 0.75
        cdef double N = doc_count, df
        cdef int encoded
        for number in dfs:
            df = number
            idf += <float>log(1.0 + (N - df + 0.5) / (df + 0.5))
        self.weight = <float>boost * <float>idf
        avgdl = <float>(<double>total_length / N) if N else <float>1.0
        for encoded in range(256):
            self.inverse_norm[encoded] = <float>1.0 / (k1 * ((<float>1.0 - b) + b * decode_length(encoded) / avgdl))

    cdef inline float score(self, uint32_t tf, uint8_t dl) noexcept nogil:
        """Return weight * tf / (tf + k1 * (1 - b + b * dl / avgdl)), computed as Lucene does; `dl` is encoded."""
        return self.weight - self.weight / (<float>1.0 + <float>tf * self.inverse_norm[dl])


@cython.final
cdef class BooleanScorer:
    """Scores the pages of a segment for a boolean query, clause by clause.

    Each add_…() adds an alternative to the current clause. require() ends the clause: a page must match one of its
    alternatives. exclude() ends it too: a page must match none. `title_lengths` and `text_lengths` have the encoded
    length of each page, and `deleted` a byte that is not 0 for deleted pages.
    """

    cdef readonly Py_ssize_t size
    cdef bytes title_lengths, text_lengths, deleted
    cdef uint16_t required
    cdef double* total_score  # of the required clauses so far
    cdef double* clause_score  # of the current clause
    cdef uint8_t* has_clause  # whether the page matches the current clause
    cdef uint16_t* clauses_met  # required clauses that the page matches, or EXCLUDED

    def __cinit__(self, bytes title_lengths not None, bytes text_lengths not None, bytes deleted=None):
        self.size = len(title_lengths)
        if len(text_lengths) != self.size or (deleted is not None and len(deleted) != self.size):
            raise ValueError("BooleanScorer() expects a length, and a byte of `deleted`, for each page")
        self.title_lengths, self.text_lengths, self.deleted = title_lengths, text_lengths, deleted
        self.total_score = <double*>calloc(self.size + 1, sizeof(double))
        self.clause_score = <double*>calloc(self.size + 1, sizeof(double))
        self.has_clause = <uint8_t*>calloc(self.size + 1, sizeof(uint8_t))
        self.clauses_met = <uint16_t*>calloc(self.size + 1, sizeof(uint16_t))
        if self.total_score == NULL or self.clause_score == NULL or self.has_clause == NULL or self.clauses_met == NULL:
            raise MemoryError(f"no memory for the scores of {self.size} pages")

    def __dealloc__(self):
        free(self.total_score)
        free(self.clause_score)
        free(self.has_clause)
        free(self.clauses_met)

    def add_word(self, bytes postings not None, Bm25 title not None, Bm25 text not None) -> None:
        """Add a word by its `postings`, with its weights in title and text."""
        cdef const uint8_t* start = <const uint8_t*><const char*>postings
        cdef const uint8_t* title_lengths = <const uint8_t*><const char*>self.title_lengths
        cdef const uint8_t* text_lengths = <const uint8_t*><const char*>self.text_lengths
        cdef PostingsCursor cursor
        cdef int more = -1
        if open_postings(&cursor, start, start + len(postings)):
            with nogil:
                while True:
                    more = next_posting(&cursor)
                    if more < 1:
                        break
                    if cursor.page >= self.size:
                        more = -1
                        break
                    self.has_clause[cursor.page] = 1
                    if cursor.title_tf:
                        self.clause_score[cursor.page] += title.score(cursor.title_tf, title_lengths[cursor.page])
                    if cursor.text_tf:
                        self.clause_score[cursor.page] += text.score(cursor.text_tf, text_lengths[cursor.page])
        if more < 0:
            raise ValueError(CORRUPT)

    def add_prefix(self, postings_of_words, float title, float text) -> None:
        """Add all words with a prefix, by the postings of each; a page scores once for its title, once for its text."""
        cdef uint8_t* fields = <uint8_t*>calloc(self.size + 1, 1)
        cdef const uint8_t* start
        cdef PostingsCursor cursor
        cdef bytes postings
        cdef Py_ssize_t i
        cdef int more = 0
        if fields == NULL:
            raise MemoryError(f"no memory for {self.size} pages")
        try:
            for postings in postings_of_words:
                start = <const uint8_t*><const char*>postings
                if not open_postings(&cursor, start, start + len(postings)):
                    raise ValueError(CORRUPT)
                with nogil:
                    while True:
                        more = next_posting(&cursor)
                        if more < 1:
                            break
                        if cursor.page >= self.size:
                            more = -1
                            break
                        fields[cursor.page] |= (IN_TITLE if cursor.title_tf else 0) | (IN_TEXT if cursor.text_tf else 0)
                if more < 0:
                    raise ValueError(CORRUPT)
            for i in range(self.size):
                if fields[i]:
                    self.has_clause[i] = 1
                    self.clause_score[i] += (
                        (title if fields[i] & IN_TITLE else 0.0) + (text if fields[i] & IN_TEXT else 0.0))
        finally:
            free(fields)

    def add_phrase(self, words, order, Bm25 title not None, Bm25 text not None) -> None:
        """Add a phrase: (postings, positions) of its distinct `words`; `order` has the index of each of its words."""
        cdef _Phrase phrase = _Phrase(words, order)
        cdef const uint8_t* title_lengths = <const uint8_t*><const char*>self.title_lengths
        cdef const uint8_t* text_lengths = <const uint8_t*><const char*>self.text_lengths
        cdef uint32_t title_tf, text_tf
        while phrase.next():
            if phrase.page >= <size_t>self.size:
                raise ValueError(CORRUPT)
            title_tf, text_tf = phrase.tf(IN_TITLE), phrase.tf(IN_TEXT)
            if title_tf:
                self.clause_score[phrase.page] += title.score(title_tf, title_lengths[phrase.page])
            if text_tf:
                self.clause_score[phrase.page] += text.score(text_tf, text_lengths[phrase.page])
            if title_tf or text_tf:
                self.has_clause[phrase.page] = 1

    def add_scorer(self, BooleanScorer other not None) -> None:
        """Add the pages that match all required clauses of `other`, a scorer of the same pages."""
        cdef Py_ssize_t i
        if other.size != self.size:
            raise ValueError("add_scorer() expects a scorer of the same pages")
        with nogil:
            for i in range(self.size):
                if other.clauses_met[i] == other.required:
                    self.has_clause[i] = 1
                    self.clause_score[i] += <float>other.total_score[i]

    def require(self) -> None:
        """End the current clause: only pages that match it can be hits."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.size):
                if self.has_clause[i] and self.clauses_met[i] == self.required:
                    self.clauses_met[i] += 1
                    self.total_score[i] += <float>self.clause_score[i]
            self._clear_clause()
            self.required += 1

    def exclude(self) -> None:
        """End the current clause: pages that match it are not hits."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.size):
                if self.has_clause[i]:
                    self.clauses_met[i] = EXCLUDED
            self._clear_clause()

    cdef void _clear_clause(self) noexcept nogil:
        memset(self.clause_score, 0, self.size * sizeof(double))
        memset(self.has_clause, 0, self.size)

    def hits(self, first) -> tuple[array.array, array.array]:
        """Return the pages that match the query, numbered from `first`, and their scores."""
        cdef array.array numbers = array.clone(NUMBERS, self.size, zero=False)
        cdef array.array scores = array.clone(SCORES, self.size, zero=False)
        cdef const uint8_t* deleted = NULL
        cdef uint32_t start = first
        cdef Py_ssize_t i, count = 0
        if self.deleted is not None:
            deleted = <const uint8_t*><const char*>self.deleted
        with nogil:
            for i in range(self.size):
                if self.clauses_met[i] == self.required and (deleted == NULL or not deleted[i]):
                    numbers.data.as_uints[count] = start + <uint32_t>i
                    scores.data.as_floats[count] = <float>self.total_score[i]
                    count += 1
        array.resize(numbers, count)
        array.resize(scores, count)
        return numbers, scores


cdef struct PhraseCursor:
    PostingsCursor postings
    const uint8_t* positions  # of the current page
    const uint8_t* next_positions
    const uint8_t* end


@cython.final
cdef class _Phrase:
    """Finds the pages that have all words of a phrase, and counts its occurrences there."""

    cdef list buffers  # the bytes that the cursors point into
    cdef PhraseCursor* cursors
    cdef Py_ssize_t words
    cdef Py_ssize_t length
    cdef uint32_t* order
    cdef uint32_t* starts  # positions where the phrase may begin
    cdef size_t capacity
    cdef readonly uint32_t page

    def __cinit__(self, words, order):
        cdef Py_ssize_t i
        cdef bytes postings, positions
        self.buffers = list(words)
        self.words, self.length = len(self.buffers), len(order)
        self.cursors = <PhraseCursor*>calloc(self.words + 1, sizeof(PhraseCursor))
        self.order = <uint32_t*>calloc(self.length + 1, sizeof(uint32_t))
        if self.cursors == NULL or self.order == NULL:
            raise MemoryError(f"no memory for a phrase of {self.length} words")
        if not self.length:
            raise ValueError("add_phrase() expects at least one word")
        for i in range(self.length):
            if not 0 <= order[i] < self.words:
                raise ValueError(f"add_phrase() has no word {order[i]}")
            self.order[i] = order[i]
        for i in range(self.words):
            postings, positions = self.buffers[i]
            if not open_postings(&self.cursors[i].postings, <const uint8_t*><const char*>postings,
                                 <const uint8_t*><const char*>postings + len(postings)):
                raise ValueError(CORRUPT)
            self.cursors[i].next_positions = <const uint8_t*><const char*>positions
            self.cursors[i].end = self.cursors[i].next_positions + len(positions)

    def __dealloc__(self):
        free(self.cursors)
        free(self.order)
        free(self.starts)

    cdef bint next(self) except -1:
        """Go to the next page that has all the words; return False if there is none."""
        cdef int more
        with nogil:
            more = self._next()
        if more < 0:
            raise ValueError(CORRUPT)
        return more

    cdef int _next(self) noexcept nogil:
        cdef Py_ssize_t i = 0, agreeing = 0
        cdef int more = _advance(&self.cursors[0])
        if more < 1:
            return more
        self.page = self.cursors[0].postings.page
        while agreeing < self.words:
            while not self.cursors[i].postings.begun or self.cursors[i].postings.page < self.page:
                more = _advance(&self.cursors[i])
                if more < 1:
                    return more
            if self.cursors[i].postings.page > self.page:
                self.page = self.cursors[i].postings.page
                agreeing = 0
            agreeing += 1
            i = (i + 1) % self.words
        return 1

    cdef uint32_t tf(self, int field) except? 0xFFFFFFFF:
        """Count the phrase in a field, IN_TITLE or IN_TEXT, of the current page."""
        cdef PostingsCursor* first = &self.cursors[self.order[0]].postings
        cdef size_t max_tf = first.title_tf if field == IN_TITLE else first.text_tf
        cdef Py_ssize_t i
        cdef long long count
        # A position takes at least a byte: corrupt numbers cannot make this allocate more than there are bytes.
        if max_tf > <size_t>(self.cursors[self.order[0]].next_positions - self.cursors[self.order[0]].positions):
            raise ValueError(CORRUPT)
        if max_tf > self.capacity:
            self.starts = <uint32_t*>_larger(self.starts, 2 * max_tf * sizeof(uint32_t))
            self.capacity = 2 * max_tf
        with nogil:
            count = self._starts(field)
            for i in range(1, self.length):
                if count > 0:
                    count = self._followed(field, i, count)
        if count < 0:
            raise ValueError(CORRUPT)
        return <uint32_t>count

    cdef long long _starts(self, int field) noexcept nogil:
        """Read the positions of the first word into `starts`; return their number, or -1 if corrupt."""
        cdef PhraseCursor* cursor = &self.cursors[self.order[0]]
        cdef uint32_t i, count, position = 0, distance = 0
        cdef const uint8_t* at = _field(cursor, field, &count)
        for i in range(count):
            at = read_varint(at, cursor.end, &distance)
            if at == NULL:
                return -1
            position += distance
            self.starts[i] = position
        return count

    cdef long long _followed(self, int field, Py_ssize_t index, long long start_count) noexcept nogil:
        """Keep the starts that word `index` of the phrase follows at its distance; return their number; -1: corrupt."""
        cdef PhraseCursor* cursor = &self.cursors[self.order[index]]
        cdef uint32_t count, position = 0, distance = 0
        cdef long long j = 0, kept = 0
        cdef const uint8_t* at = _field(cursor, field, &count)
        for _ in range(count):
            at = read_varint(at, cursor.end, &distance)
            if at == NULL:
                return -1
            position += distance
            while j < start_count and self.starts[j] + index < position:
                j += 1
            if j == start_count:
                break
            if self.starts[j] + index == position:
                self.starts[kept] = self.starts[j]
                kept += 1
                j += 1
        return kept


cdef int _advance(PhraseCursor* cursor) noexcept nogil:
    """Go to the next page as next_posting() does, and find its positions."""
    cdef int more = next_posting(&cursor.postings)
    cursor.positions = cursor.next_positions
    if more == 1:
        cursor.next_positions = skip_varints(
            cursor.positions, cursor.end, <size_t>cursor.postings.title_tf + cursor.postings.text_tf)
        if cursor.next_positions == NULL:
            return -1
    return more


cdef const uint8_t* _field(PhraseCursor* cursor, int field, uint32_t* count) noexcept nogil:
    """Return the address of the positions in a field, and put their number into `count`."""
    if field == IN_TITLE:
        count[0] = cursor.postings.title_tf
        return cursor.positions
    count[0] = cursor.postings.text_tf
    return skip_varints(cursor.positions, cursor.end, cursor.postings.title_tf)


cdef void* _larger(void* memory, size_t size) except NULL:
    cdef void* larger = realloc(memory, size)
    if larger == NULL:
        raise MemoryError("no memory for the positions of a phrase")
    return larger
