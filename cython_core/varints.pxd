"""Numbers in as few bytes as they need, seven bits in each, the lowest first; and where a word is, made of them.

The pages of a word are a bytes: the last page, and then for each page how far it is from the one before, and how often
the word is there. Pages are counted from the first of their run. Its places are another: for each page those in the
title and those in the text, each as the distance from the one before.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    LONGEST_NUMBER = 5  # bytes
    LONGEST_PAGE = 3 * LONGEST_NUMBER
    MOST_PAGES = 1 << 30  # of a run: two bits beside a page's number say how often the word is there
    # These bits. Without any of them the word is once in the text, and nowhere else.
    OFTEN = 1  # how often it is in the text follows
    TITLED = 2  # it is in the title, and how often it is in the text follows; with OFTEN how often in the title, too


cdef struct Pages:
    const uint8_t* at
    const uint8_t* end
    uint32_t page
    uint32_t in_title
    uint32_t in_text
    bint begun


cdef inline uint8_t* put_number(uint8_t* at, uint32_t number) noexcept nogil:
    while number > 127:
        at[0] = <uint8_t>(number | 128)
        number >>= 7
        at += 1
    at[0] = <uint8_t>number
    return at + 1


cdef inline const uint8_t* number_at(const uint8_t* at, const uint8_t* end, uint32_t* number) noexcept nogil:
    """Where the next number is; NULL where there is none, or too large a one."""
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


cdef inline uint8_t* put_page(uint8_t* at, uint32_t distance, uint32_t in_title, uint32_t in_text) noexcept nogil:
    cdef uint32_t bits = 0
    if in_title:
        bits = TITLED | (OFTEN if in_title > 1 else 0)
    elif in_text != 1:
        bits = OFTEN
    at = put_number(at, distance << 2 | bits)
    if bits == TITLED | OFTEN:
        at = put_number(at, in_title)
    if bits:
        at = put_number(at, in_text)
    return at


cdef inline const uint8_t* last_page(const uint8_t* at, const uint8_t* end, uint32_t* last) noexcept nogil:
    """Where the pages start; NULL where there are none."""
    at = number_at(at, end, last)
    return at if at != NULL and last[0] < MOST_PAGES and at < end else NULL


cdef inline int next_page(Pages* pages) noexcept nogil:
    """1 for a page, 0 behind the last, -1 for what makes no sense."""
    cdef uint32_t number, distance
    if pages.at == pages.end:
        return 0
    pages.at = number_at(pages.at, pages.end, &number)
    distance = number >> 2
    if pages.at == NULL or pages.page + distance >= MOST_PAGES or (pages.begun and not distance):
        return -1
    pages.page += distance
    pages.begun = True
    pages.in_title, pages.in_text = 0, 1
    if number & TITLED:
        pages.in_title = 1
        if number & OFTEN:
            pages.at = number_at(pages.at, pages.end, &pages.in_title)
            if pages.at == NULL:
                return -1
    if number & (TITLED | OFTEN):
        pages.at = number_at(pages.at, pages.end, &pages.in_text)
        if pages.at == NULL:
            return -1
    return 1


cdef inline bint open_pages(Pages* pages, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Before the first page; False for what makes no sense."""
    cdef uint32_t last
    pages.at, pages.end = last_page(at, end, &last), end
    pages.page = pages.in_title = pages.in_text = 0
    pages.begun = False
    return pages.at != NULL


cdef inline const uint8_t* skip_numbers(const uint8_t* at, const uint8_t* end, size_t count) noexcept nogil:
    """Behind so many numbers; NULL where there are fewer."""
    cdef uint64_t eight
    cdef size_t ended
    while count > 8 and end - at >= 8:
        memcpy(&eight, at, 8)
        eight = ~eight & <uint64_t>0x8080808080808080  # the bytes that end a number
        ended = <size_t>(((eight >> 7) * <uint64_t>0x0101010101010101) >> 56)
        count -= ended
        at += 8
    while count:
        if at >= end:
            return NULL
        count -= at[0] < 128
        at += 1
    return at
