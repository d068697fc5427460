"""Blocks of words, as cython_core/word_blocks.pxd has them: looked into, and several runs of them made one."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from opensearch_winnow.cython_core.varints cimport (
    LONGEST_NUMBER, LONGEST_PAGE, MOST_PAGES, Pages, last_page, next_page, number_at, open_pages, put_number, put_page,
    skip_numbers,
)
from opensearch_winnow.cython_core.word_blocks cimport (
    Block, Entry, compared, fits, free_block, has_room, next_word, open_block, put_word,
)

cdef str NO_SENSE = "words and their pages make no sense"
cdef size_t ANY_PLACES = <size_t>-1  # bytes of places, where they are not at hand


def look_up(bytes words not None, str word not None) -> tuple[bytes, int, int] | None:
    """The pages of a word in a block, and from where to where its places are; None if it is not there."""
    cdef bytes wanted = word.encode()
    cdef const uint8_t* sought = <const uint8_t*><const char*>wanted
    cdef uint32_t length = <uint32_t>len(wanted)
    cdef Entry entry
    cdef int more, order = -1
    open_block(&entry, <const uint8_t*><const char*>words, len(words), ANY_PLACES)
    with nogil:
        while order < 0:
            more = next_word(&entry)
            if more < 1:
                break
            order = compared(entry.word, entry.length, sought, length)
    if more < 0:
        raise ValueError(NO_SENSE)
    if order:
        return None
    pages = PyBytes_FromStringAndSize(<const char*>entry.pages, entry.pages_size)
    return pages, entry.places, entry.places + entry.places_size


def look_up_start(bytes words not None, str start not None) -> list[bytes]:
    """The pages of each word in a block that starts so."""
    cdef bytes wanted = start.encode()
    cdef const uint8_t* sought = <const uint8_t*><const char*>wanted
    cdef uint32_t length = <uint32_t>len(wanted)
    cdef Entry entry
    cdef int more, order
    cdef list found = []
    open_block(&entry, <const uint8_t*><const char*>words, len(words), ANY_PLACES)
    while True:
        more = next_word(&entry)
        if more < 1:
            break
        order = compared(entry.word, min(entry.length, length), sought, length)
        if order > 0:
            break
        if order == 0:
            found.append(PyBytes_FromStringAndSize(<const char*>entry.pages, entry.pages_size))
    if more < 0:
        raise ValueError(NO_SENSE)
    return found


def counted(bytes pages not None, bytes gone=None) -> tuple[int, int]:
    """On how many pages a word is in the title, and on how many in the text, but for those where `gone` is not 0."""
    cdef Py_ssize_t in_titles = 0, in_texts = 0
    cdef size_t most = MOST_PAGES if gone is None else len(gone)
    cdef const uint8_t* mask = NULL
    cdef const uint8_t* start = <const uint8_t*><const char*>pages
    cdef Pages page
    cdef int more = -1
    if gone is not None:
        mask = <const uint8_t*><const char*>gone
    if open_pages(&page, start, start + len(pages)):
        with nogil:
            while True:
                more = next_page(&page)
                if more < 1 or page.page >= most:
                    break
                if mask == NULL or not mask[page.page]:
                    in_titles += page.in_title > 0
                    in_texts += page.in_text > 0
    if more:
        raise ValueError(NO_SENSE)
    return in_titles, in_texts


@cython.final
cdef class _Source:
    """A run: its words, one after the other."""

    cdef object blocks
    cdef bytes words, places
    cdef uint32_t shift
    cdef Entry entry
    cdef bint ended

    def __cinit__(self, shift, blocks):
        if not 0 <= shift < MOST_PAGES:
            raise ValueError(f"pages of a run cannot grow by {shift}")
        self.shift, self.blocks = shift, iter(blocks)
        self.words = self.places = b""
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
            self.words, self.places = block
            open_block(&self.entry, <const uint8_t*><const char*>self.words, len(self.words), len(self.places))
            more = next_word(&self.entry)
            if more == 1 and self.last() <= before:
                more = -1
        if more < 0:
            raise ValueError(NO_SENSE)
        return 0

    cdef bytes last(self):
        return PyBytes_FromStringAndSize(<const char*>self.entry.word, self.entry.length)


@cython.final
cdef class JoinedRuns:
    """The blocks of several runs as one, each behind its first word; pages where `gone` is not 0 are left out.

    Each run is told by how much its numbers of pages grow, and an iterable of its blocks.
    """

    cdef list sources
    cdef bytes gone
    cdef Block block
    cdef uint8_t* pages  # of a word
    cdef size_t pages_room
    cdef uint8_t* places
    cdef size_t places_room
    cdef bint begun

    def __cinit__(self, runs, bytes gone=None):
        memset(&self.block, 0, sizeof(self.block))
        self.sources = [_Source(shift, blocks) for shift, blocks in runs]
        self.gone = gone

    def __dealloc__(self):
        free_block(&self.block)
        free(self.pages)
        free(self.places)

    def __iter__(self):
        return self

    def __next__(self) -> tuple[str, bytes, bytes]:
        cdef _Source source, least
        cdef tuple made
        if not self.begun:
            self.begun = True
            for source in self.sources:
                source.advance()
        while True:
            least = None
            for source in self.sources:
                if not source.ended and (least is None or compared(
                        source.entry.word, source.entry.length, least.entry.word, least.entry.length) < 0):
                    least = source
            if least is None:
                if not self.block.used:
                    raise StopIteration
                return self.taken()
            made = self.put(least)
            if made is not None:
                return made

    cdef tuple put(self, _Source least):
        """The least word into a block; the block before, if it was full."""
        cdef size_t size = 2 * LONGEST_NUMBER, places_size = 0
        cdef uint8_t* put
        cdef uint8_t* put_places
        cdef uint8_t* start
        cdef uint32_t before = 0
        cdef _Source source
        cdef list same = []
        cdef tuple made = None
        for source in self.sources:
            if not source.ended and not compared(
                    source.entry.word, source.entry.length, least.entry.word, least.entry.length):
                same.append(source)
                size += source.entry.pages_size + LONGEST_NUMBER + LONGEST_PAGE
                places_size += source.entry.places_size
        if not (has_room(&self.pages, &self.pages_room, size)
                and has_room(&self.places, &self.places_room, places_size)):
            raise MemoryError("no memory for the pages of a word")
        put, put_places = self.pages + LONGEST_NUMBER, self.places
        for source in same:
            if self.gone is None:
                put = shifted(source, put, &before)
                memcpy(put_places, <const uint8_t*><const char*>source.places + source.entry.places,
                       source.entry.places_size)
                put_places += source.entry.places_size
            else:
                put = thinned(source, self.gone, put, &put_places, &before)
        if before:
            start = with_last(self.pages, before - 1)
            if self.block.used and not fits(&self.block, least.entry.length, put - start, put_places - self.places):
                made = self.taken()
            if not put_word(&self.block, least.entry.word, least.entry.length, start, put - start,
                            self.places, put_places - self.places):
                raise MemoryError("no memory for a block of words")
        for source in same:
            source.advance()
        return made

    cdef tuple taken(self):
        made = (
            PyUnicode_DecodeUTF8(<const char*>self.block.first, self.block.first_length, NULL),
            PyBytes_FromStringAndSize(<const char*>self.block.words, self.block.used),
            PyBytes_FromStringAndSize(<const char*>self.block.places, self.block.places_used))
        self.block.used = self.block.places_used = 0
        return made


cdef uint8_t* with_last(uint8_t* pages, uint32_t last) noexcept:
    """Put the last page in the room before the pages of a word; where it starts."""
    cdef uint8_t[LONGEST_NUMBER] head
    cdef Py_ssize_t size = put_number(head, last) - head
    memcpy(pages + LONGEST_NUMBER - size, head, size)
    return pages + LONGEST_NUMBER - size


cdef uint8_t* shifted(_Source source, uint8_t* put, uint32_t* before) except NULL:
    """The pages of its word behind those before it, of which the last is `before` - 1; only its first is made anew."""
    cdef const uint8_t* at = source.entry.pages
    cdef const uint8_t* end = at + source.entry.pages_size
    cdef uint32_t last = 0, first = 0, page
    at = number_at(last_page(at, end, &last), end, &first)
    page = source.shift + (first >> 2)
    last += source.shift
    if at == NULL or page < before[0] or last < page or last >= MOST_PAGES:
        raise ValueError(NO_SENSE)
    put = put_number(put, (page - (before[0] - 1 if before[0] else 0)) << 2 | first & 3)
    memcpy(put, at, end - at)
    before[0] = last + 1
    return put + (end - at)


cdef uint8_t* thinned(
    _Source source, bytes gone, uint8_t* put, uint8_t** put_places, uint32_t* before
) except NULL:
    """The same, but for pages that are gone."""
    cdef const uint8_t* mask = <const uint8_t*><const char*>gone
    cdef const uint8_t* at = <const uint8_t*><const char*>source.places + source.entry.places
    cdef const uint8_t* end = at + source.entry.places_size
    cdef const uint8_t* start
    cdef size_t most = len(gone)
    cdef Pages page
    cdef int more = -1
    if open_pages(&page, source.entry.pages, source.entry.pages + source.entry.pages_size):
        page.page = source.shift
        while True:
            more = next_page(&page)
            if more < 1:
                break
            start = at
            at = skip_numbers(at, end, <size_t>page.in_title + page.in_text)
            if at == NULL or page.page >= most or page.page < before[0]:
                more = -1
                break
            if not mask[page.page]:
                put = put_page(
                    put, page.page - (before[0] - 1 if before[0] else 0), page.in_title, page.in_text)
                before[0] = page.page + 1
                memcpy(put_places[0], start, at - start)
                put_places[0] += at - start
    if more < 0:
        raise ValueError(NO_SENSE)
    return put
