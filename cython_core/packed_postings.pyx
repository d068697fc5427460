"""Packs sorted postings into blocks of bytes, and unpacks them.

For each token, a block has a control byte, the distance from the token before, and the first page, both in as few bytes
as they take, lowest first; then the distance of each further page from the page before, as a varint. The control byte
has the number of bytes of the distance and of the page, and the number of further pages: up to six, or seven if their
number comes before them as a varint.
"""

import array

from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes, page_numbers
from opensearch_winnow.cython_core.varints cimport MAX_VARINT_BYTES, put_varint, read_varint

cdef array.array NO_TOKENS = array.array("Q")
cdef array.array NO_PAGES = array.array("I")

cdef enum:
    EXPLICIT_COUNT = 7
    MAX_POSTING_BYTES = 1 + 8 + 4 + MAX_VARINT_BYTES
    SPARE_BYTES = 8  # a number is written as eight bytes, even if only the first few count


def pack_postings(tokens, pages, Py_ssize_t block_bytes, Py_ssize_t slot_bits) -> list:
    """Return the blocks of postings, each as its first token and its bytes, at most `block_bytes`.

    Tokens that differ only in the lowest `slot_bits` are in one block, however large. The first token of a block is
    stored as its distance from the lowest of these tokens.
    """
    cdef const uint64_t[::1] a = hashes(tokens, "pack_postings")
    cdef const uint32_t[::1] p = page_numbers(pages, "pack_postings")
    cdef Py_ssize_t n = a.shape[0], start = 0, end = 0
    cdef uint8_t* buffer
    cdef uint8_t* last
    if p.shape[0] != n:
        raise ValueError(f"pack_postings() expects a page for each token: {p.shape[0]} for {n}")
    if not 0 <= slot_bits < 64:
        raise ValueError(f"pack_postings() expects 0 to 63 bits of a slot, got {slot_bits}")
    cdef list blocks = []
    buffer = <uint8_t*>malloc(n * MAX_POSTING_BYTES + SPARE_BYTES)
    if buffer == NULL:
        raise MemoryError(f"no memory to pack {n} postings")
    try:
        while start < n:
            with nogil:
                last = _pack_block(a, p, start, &end, block_bytes, <uint32_t>slot_bits, buffer)
            if last == NULL:
                raise ValueError("pack_postings() expects postings in order, without repeats")
            blocks.append((a[start], PyBytes_FromStringAndSize(<char*>buffer, last - buffer)))
            start = end
    finally:
        free(buffer)
    return blocks


def unpack_postings(bytes block not None, uint64_t lowest) -> tuple[array.array, array.array]:
    """Return the tokens and the pages of a block, whose first token is stored as its distance from `lowest`.

    Raises ValueError if the block is corrupt.
    """
    cdef const uint8_t* at = <const uint8_t*><const char*>block
    cdef Py_ssize_t size = len(block), n  # a posting takes at least a byte
    cdef array.array tokens = array.clone(NO_TOKENS, size, zero=False)
    cdef array.array pages = array.clone(NO_PAGES, size, zero=False)
    cdef uint64_t* a = <uint64_t*>tokens.data.as_ulonglongs
    cdef uint32_t* p = <uint32_t*>pages.data.as_uints
    with nogil:
        n = _unpack(at, at + size, lowest, a, p)
    if n < 1:
        raise ValueError("a block of postings is corrupt")
    array.resize(tokens, n)
    array.resize(pages, n)
    return tokens, pages


cdef uint8_t* _pack_block(
    const uint64_t[::1] tokens, const uint32_t[::1] pages, Py_ssize_t start, Py_ssize_t* end, Py_ssize_t block_bytes,
    uint32_t slot_bits, uint8_t* buffer,
) noexcept nogil:
    """Write a block from posting `start` on, up to `end`; return the address after it, NULL if they are not in order.

    Postings are written slot by slot. One that does not fit is left to the next block.
    """
    cdef Py_ssize_t n = tokens.shape[0], i = start, j
    cdef uint64_t slot, before = tokens[start] >> slot_bits << slot_bits
    cdef uint8_t* at = buffer
    cdef uint8_t* after = buffer
    end[0] = start
    while i < n:
        slot = tokens[i] >> slot_bits
        while i < n and tokens[i] >> slot_bits == slot:
            j = i + 1
            while j < n and tokens[j] == tokens[i]:
                if pages[j] <= pages[j - 1]:
                    return NULL
                j += 1
            if j < n and tokens[j] < tokens[i]:
                return NULL
            after = _put_token(after, tokens[i] - before, &pages[i], <uint32_t>(j - i))
            before = tokens[i]
            i = j
        if end[0] > start and after - buffer > block_bytes:
            break
        at, end[0] = after, i
    return at


cdef inline uint8_t* _put_token(
    uint8_t* at, uint64_t distance, const uint32_t* pages, uint32_t count
) noexcept nogil:
    """Write a token and its pages, and return the address after them."""
    cdef uint32_t distance_bytes = _bytes_of(distance), page_bytes = _bytes_of(pages[0]), i
    at[0] = <uint8_t>(distance_bytes - 1 | page_bytes - 1 << 3 | min(count - 1, <uint32_t>EXPLICIT_COUNT) << 5)
    at = _put_number(at + 1, distance, distance_bytes)
    at = _put_number(at, pages[0], page_bytes)
    if count > EXPLICIT_COUNT:
        at = put_varint(at, count - 1)
    for i in range(1, count):
        at = put_varint(at, pages[i] - pages[i - 1])
    return at


cdef Py_ssize_t _unpack(
    const uint8_t* at, const uint8_t* end, uint64_t token, uint64_t* tokens, uint32_t* pages
) noexcept nogil:
    """Read the postings of a block and return their number; -1 if they are not in order, or incomplete."""
    cdef Py_ssize_t i = 0, last
    cdef uint32_t distance_bytes, page_bytes, further, step
    cdef uint64_t distance
    while at < end:
        distance_bytes, page_bytes, further = (at[0] & 7) + 1, (at[0] >> 3 & 3) + 1, at[0] >> 5
        at += 1
        if end - at >= 16:  # enough to read eight bytes for each of the two numbers
            distance = _eight(at) << (64 - 8 * distance_bytes) >> (64 - 8 * distance_bytes)
            pages[i] = <uint32_t>(_eight(at + distance_bytes) << (64 - 8 * page_bytes) >> (64 - 8 * page_bytes))
        elif end - at >= distance_bytes + page_bytes:
            distance, pages[i] = _number(at, distance_bytes), <uint32_t>_number(at + distance_bytes, page_bytes)
        else:
            return -1
        at += distance_bytes + page_bytes
        if token + distance < token or (i and not distance):
            return -1
        token += distance
        tokens[i] = token
        i += 1
        if further == 0:
            continue
        if further == EXPLICIT_COUNT:
            at = read_varint(at, end, &further)
        if at == NULL or further > end - at:
            return -1
        last = i + further
        while i < last:
            at = read_varint(at, end, &step)
            if at == NULL or pages[i - 1] + step <= pages[i - 1]:
                return -1
            tokens[i], pages[i] = token, pages[i - 1] + step
            i += 1
    return i


cdef inline uint32_t _bytes_of(uint64_t number) noexcept nogil:
    cdef uint32_t count = 1
    if number >> 32:
        number >>= 32
        count = 5
    return count + (number > 0xFF) + (number > 0xFFFF) + (number > 0xFFFFFF)


cdef inline uint8_t* _put_number(uint8_t* at, uint64_t number, uint32_t count) noexcept nogil:
    """Write a number as eight bytes, lowest first; return the address after the first `count`, which matter."""
    cdef uint32_t i
    for i in range(8):
        at[i] = <uint8_t>(number >> 8 * i)
    return at + count


cdef inline uint64_t _number(const uint8_t* at, uint32_t count) noexcept nogil:
    cdef uint64_t number = 0
    cdef uint32_t i
    for i in range(count):
        number |= <uint64_t>at[i] << 8 * i
    return number


cdef inline uint64_t _eight(const uint8_t* at) noexcept nogil:
    """Read eight bytes, lowest first. Compilers make one instruction of it."""
    return (
        <uint64_t>at[0] | <uint64_t>at[1] << 8 | <uint64_t>at[2] << 16 | <uint64_t>at[3] << 24
        | <uint64_t>at[4] << 32 | <uint64_t>at[5] << 40 | <uint64_t>at[6] << 48 | <uint64_t>at[7] << 56
    )
