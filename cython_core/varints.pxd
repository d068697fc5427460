"""Variable-length integers (varints), seven bits per byte, the lowest first; and the postings of a word, made of them.

The postings of a word are one byte string: the last page, then for each page its distance from the page before and how
often the word occurs there (tf). Pages are numbered from the first of their segment. The positions are another byte
string: for each page those in the title, then those in the text, each as the distance from the one before.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    MAX_VARINT_BYTES = 5
    MAX_POSTING_BYTES = 3 * MAX_VARINT_BYTES
    MAX_SEGMENT_PAGES = 1 << 30  # two bits of a page's varint tell how often the word occurs
    # The two bits. If both are 0, the word occurs once in the text and not in the title.
    EXPLICIT_TF = 1  # alone: the tf in the text follows
    # The word is in the title. With EXPLICIT_TF the tf in the title follows, else it is 1; then the tf in the text.
    WITH_TITLE = 2


cdef struct PostingsCursor:
    const uint8_t* at
    const uint8_t* end
    uint32_t page
    uint32_t title_tf
    uint32_t text_tf
    bint begun


cdef inline uint8_t* put_varint(uint8_t* at, uint32_t number) noexcept nogil:
    """Write `number` and return the address after it."""
    while number > 127:
        at[0] = <uint8_t>(number | 128)
        number >>= 7
        at += 1
    at[0] = <uint8_t>number
    return at + 1


cdef inline const uint8_t* read_varint(const uint8_t* at, const uint8_t* end, uint32_t* number) noexcept nogil:
    """Read a number and return the address after it; NULL if there is none, or it exceeds 32 bits."""
    cdef uint64_t value
    cdef int shift = 7
    if at == NULL or at >= end:
        return NULL
    value = at[0] & 127
    while at[0] & 128:
        at += 1
        if at >= end or shift > 28:
            return NULL
        value |= <uint64_t>(at[0] & 127) << shift
        shift += 7
    number[0] = <uint32_t>value
    return at + 1 if value == number[0] else NULL


cdef inline uint8_t* put_posting(uint8_t* at, uint32_t distance, uint32_t title_tf, uint32_t text_tf) noexcept nogil:
    """Write a posting and return the address after it; `distance` is that from the page before."""
    cdef uint32_t bits = 0
    if title_tf:
        bits = WITH_TITLE | (EXPLICIT_TF if title_tf > 1 else 0)
    elif text_tf != 1:
        bits = EXPLICIT_TF
    at = put_varint(at, distance << 2 | bits)
    if bits == WITH_TITLE | EXPLICIT_TF:
        at = put_varint(at, title_tf)
    if bits:
        at = put_varint(at, text_tf)
    return at


cdef inline const uint8_t* read_last_page(const uint8_t* at, const uint8_t* end, uint32_t* last) noexcept nogil:
    """Read the last page of a word's postings and return the address of the first posting; NULL if there is none."""
    at = read_varint(at, end, last)
    return at if at != NULL and last[0] < MAX_SEGMENT_PAGES and at < end else NULL


cdef inline int next_posting(PostingsCursor* cursor) noexcept nogil:
    """Go to the next posting; return 1 if there is one, 0 at the end, -1 if the bytes are corrupt."""
    cdef uint32_t number, distance
    if cursor.at == cursor.end:
        return 0
    cursor.at = read_varint(cursor.at, cursor.end, &number)
    distance = number >> 2
    if cursor.at == NULL or cursor.page + distance >= MAX_SEGMENT_PAGES or (cursor.begun and not distance):
        return -1
    cursor.page += distance
    cursor.begun = True
    cursor.title_tf, cursor.text_tf = 0, 1
    if number & WITH_TITLE:
        cursor.title_tf = 1
        if number & EXPLICIT_TF:
            cursor.at = read_varint(cursor.at, cursor.end, &cursor.title_tf)
            if cursor.at == NULL:
                return -1
    if number & (WITH_TITLE | EXPLICIT_TF):
        cursor.at = read_varint(cursor.at, cursor.end, &cursor.text_tf)
        if cursor.at == NULL:
            return -1
    return 1


cdef inline bint open_postings(PostingsCursor* cursor, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Set the cursor before the first posting; return False if the bytes are corrupt."""
    cdef uint32_t last
    cursor.at, cursor.end = read_last_page(at, end, &last), end
    cursor.page = cursor.title_tf = cursor.text_tf = 0
    cursor.begun = False
    return cursor.at != NULL


cdef inline const uint8_t* skip_varints(const uint8_t* at, const uint8_t* end, size_t count) noexcept nogil:
    """Return the address after the next `count` numbers; NULL if there are fewer."""
    cdef uint64_t eight
    cdef size_t ended
    while count > 8 and end - at >= 8:
        memcpy(&eight, at, 8)
        eight = ~eight & <uint64_t>0x8080808080808080  # the top bits of the bytes that end a number
        ended = <size_t>(((eight >> 7) * <uint64_t>0x0101010101010101) >> 56)
        count -= ended
        at += 8
    while count:
        if at >= end:
            return NULL
        count -= at[0] < 128
        at += 1
    return at
