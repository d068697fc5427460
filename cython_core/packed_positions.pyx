"""Packs the positions of fingerprints: the differences of 32-bit integers, as varints."""

import array

from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport page_numbers
from opensearch_winnow.cython_core.varints cimport MAX_VARINT_BYTES, put_varint, read_varint

cdef array.array NO_POSITIONS = array.array("I")


def pack_positions(positions) -> bytes:
    """Return the difference of each position from the one before, modulo 2^32: a byte each if they are below 128."""
    cdef const uint32_t[::1] numbers = page_numbers(positions, "pack_positions")
    cdef Py_ssize_t n = numbers.shape[0], i
    cdef uint32_t before = 0
    cdef uint8_t* buffer = <uint8_t*>malloc(n * MAX_VARINT_BYTES + 1)
    cdef uint8_t* at = buffer
    if buffer == NULL:
        raise MemoryError(f"no memory to pack {n} positions")
    try:
        with nogil:
            for i in range(n):
                at = put_varint(at, numbers[i] - before)
                before = numbers[i]
        return PyBytes_FromStringAndSize(<char*>buffer, at - buffer)
    finally:
        free(buffer)


def unpack_positions(bytes packed not None) -> array.array:
    """Return the positions (typecode 'I'). Raises ValueError if the bytes did not come from pack_positions()."""
    cdef const uint8_t* at = <const uint8_t*><const char*>packed
    cdef const uint8_t* end = at + len(packed)
    cdef array.array positions = array.clone(NO_POSITIONS, len(packed), zero=False)  # one takes at least a byte
    cdef uint32_t* numbers = <uint32_t*>positions.data.as_uints
    cdef uint32_t before = 0, step = 0
    cdef Py_ssize_t n = 0
    with nogil:
        while at != NULL and at < end:
            at = read_varint(at, end, &step)
            before += step
            numbers[n] = before
            n += 1
    if at == NULL:
        raise ValueError("packed positions end in the middle of one, or have more than 32 bits")
    array.resize(positions, n)
    return positions
