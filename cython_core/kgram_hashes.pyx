"""k-gram hashes: a rolling polynomial of the characters mod 2**64, in constant time per character for every k."""

import array

from cpython cimport array
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from opensearch_winnow.cython_core.hashing cimport char_value, mix, power, radix

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t


cdef Roller roller(str chars, Py_ssize_t k, uint64_t key):
    cdef Roller grams
    cdef uint32_t char
    grams.chars = PyUnicode_DATA(chars)
    grams.width = PyUnicode_KIND(chars)
    grams.k = k
    grams.key = key
    grams.base = radix(key)
    grams.base_k = power(grams.base, k)
    if grams.width == 1:
        for char in range(256):
            grams.enters[char] = char_value(char, key)
            grams.leaves[char] = grams.enters[char] * grams.base_k
    return grams


cdef inline uint64_t step(const Roller* grams, const Char* chars, Py_ssize_t i) noexcept nogil:
    """Return what to add to the previous hash times the base to get the hash of the k-gram at `i`."""
    if Char is uint8_t:
        return grams.enters[chars[i + grams.k - 1]] - grams.leaves[chars[i - 1]]
    else:
        return char_value(chars[i + grams.k - 1], grams.key) - char_value(chars[i - 1], grams.key) * grams.base_k


cdef void roll_chars(
    const Roller* grams, const Char* chars, Py_ssize_t n, uint64_t offset, uint64_t* keys
) noexcept nogil:
    cdef:
        uint64_t base = grams.base, base_2 = base * base, base_3 = base_2 * base, base_4 = base_3 * base
        uint64_t hash = 0, one, two, three, four
        int shift = 64 - HASH_BITS
        Py_ssize_t i
    for i in range(grams.k):
        hash = hash * base + char_value(chars[i], grams.key)
    keys[0] = offset + (hash >> shift)
    i = 1
    # Four k-grams at a time: each hash depends on the one four places back, so multiplications overlap.
    while i + 4 <= n:
        one = step(grams, chars, i)
        two = one * base + step(grams, chars, i + 1)
        three = two * base + step(grams, chars, i + 2)
        four = three * base + step(grams, chars, i + 3)
        keys[i] = offset + ((hash * base + one) >> shift)
        keys[i + 1] = offset + ((hash * base_2 + two) >> shift)
        keys[i + 2] = offset + ((hash * base_3 + three) >> shift)
        hash = hash * base_4 + four
        keys[i + 3] = offset + (hash >> shift)
        i += 4
    while i < n:
        hash = hash * base + step(grams, chars, i)
        keys[i] = offset + (hash >> shift)
        i += 1


cdef void roll(const Roller* grams, Py_ssize_t start, Py_ssize_t n, KeyClass key_class, uint64_t* keys) noexcept nogil:
    """Write the keys of `n` k-grams, the first at `start`. `n` is at least 1, and the text has all of them."""
    cdef uint64_t offset = key_of(0, key_class)
    if grams.width == 1:
        roll_chars(grams, <const uint8_t*>grams.chars + start, n, offset, keys)
    elif grams.width == 2:
        roll_chars(grams, <const uint16_t*>grams.chars + start, n, offset, keys)
    else:
        roll_chars(grams, <const uint32_t*>grams.chars + start, n, offset, keys)


def kgram_hashes(str chars not None, Py_ssize_t k, uint64_t key=0):
    """Return the fingerprint of every k-gram in order (typecode 'Q'): Heintze's full fingerprinting.

    fingerprints() keeps a selection of these.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1 character, not {k}")
    cdef Py_ssize_t i, n = max(len(chars) - k + 1, 0)
    cdef array.array hashes = array.clone(array.array("Q"), n, zero=False)
    cdef uint64_t* keys = <uint64_t*>hashes.data.as_ulonglongs
    cdef Roller grams
    if n:
        grams = roller(chars, k, key)
        with nogil:
            roll(&grams, 0, n, OPEN, keys)
            for i in range(n):
                keys[i] = mix(hash_of(keys[i]))
    return hashes
