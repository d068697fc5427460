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


cdef enum:
    # Planes 0 to 3 of Unicode, which have all letters and digits. A table has 2 MB, and takes 1.5 ms to make.
    TABLE_SIZE = 0x40000
    # Most processes use one key. Texts with a fifth are hashed without a table, in three times the time.
    MAX_TABLES = 4

cdef dict TABLES = {}  # for each key, the values of characters. No table is ever removed, because rollers point to it


cdef array.array table_of(uint64_t key):
    """Return the values of the first TABLE_SIZE characters, or None if there are tables of MAX_TABLES other keys."""
    cdef array.array table = TABLES.get(key)
    cdef int char
    if table is None and len(TABLES) < MAX_TABLES:
        table = array.clone(array.array("Q"), TABLE_SIZE, zero=False)
        for char in range(TABLE_SIZE):
            table.data.as_ulonglongs[char] = char_value(char, key)
        table = TABLES.setdefault(key, table)  # another thread may have made it meanwhile
    return table


cdef Roller roller(str chars, Py_ssize_t k, uint64_t key):
    cdef Roller grams
    cdef array.array table
    cdef uint32_t char
    cdef int rest, i
    grams.chars = PyUnicode_DATA(chars)
    grams.width = PyUnicode_KIND(chars)
    grams.k = k
    grams.key = key
    grams.base = radix(key)
    grams.base_k = power(grams.base, k)
    for rest in range(4):
        for i in range(3):
            grams.factors[rest][i] = power(grams.base, rest - 1 - i) if i < rest else 0
        grams.factors[rest][3] = power(grams.base, rest)
    if grams.width == 1:
        for char in range(256):
            grams.enters[char] = char_value(char, key)
            grams.leaves[char] = grams.enters[char] * grams.base_k
    else:
        table = table_of(key)
        grams.table = NULL if table is None else <uint64_t*>table.data.as_ulonglongs
        grams.table_size = 0 if table is None else TABLE_SIZE
    return grams


cdef inline uint64_t enters(const Roller* grams, Char char) noexcept nogil:
    if Char is uint8_t:
        return grams.enters[char]
    else:
        return grams.table[char] if char < grams.table_size else char_value(char, grams.key)


cdef inline uint64_t leaves(const Roller* grams, Char char) noexcept nogil:
    return grams.leaves[char] if Char is uint8_t else enters(grams, char) * grams.base_k


cdef inline uint64_t step(const Roller* grams, const Char* chars, Py_ssize_t i) noexcept nogil:
    """Return the summand that makes the hash of the k-gram at `i` of the previous hash times the base."""
    return enters(grams, chars[i + grams.k - 1]) - leaves(grams, chars[i - 1])


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
    # Four k-grams at a time: each hash depends on the one four k-grams back, so multiplications overlap.
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


cdef inline uint64_t pair(const Roller* ones, const Char* chars, Py_ssize_t i) noexcept nogil:
    """Return the hash of two characters. The value that leaves a k-gram of one character was multiplied by the base."""
    return leaves(ones, chars[i]) + enters(ones, chars[i + 1])


cdef void hash_fours_of(
    const Roller* ones, const Char* chars, Py_ssize_t n, uint64_t* keys, uint64_t* prefixes
) noexcept nogil:
    cdef:
        uint64_t base_2 = ones.base * ones.base, base_4 = base_2 * base_2
        uint64_t first = pair(ones, chars, 0), second = pair(ones, chars, 1), third, fourth, fifth, sixth
        int shift = 64 - HASH_BITS
        Py_ssize_t i = 0
    prefixes[0] = 0
    # Two pairs make a four. No hash waits for the one before.
    while i + 4 <= n:
        third = pair(ones, chars, i + 2)
        fourth = pair(ones, chars, i + 3)
        fifth = pair(ones, chars, i + 4)
        sixth = pair(ones, chars, i + 5)
        keys[i] = (first * base_2 + third) >> shift
        keys[i + 1] = (second * base_2 + fourth) >> shift
        keys[i + 2] = (third * base_2 + fifth) >> shift
        keys[i + 3] = (fourth * base_2 + sixth) >> shift
        prefixes[1] = prefixes[0] * base_4 + first * base_2 + third
        prefixes += 1
        first = fifth
        second = sixth
        i += 4
    if i < n:
        prefixes[1] = prefixes[0] * base_4 + first * base_2 + pair(ones, chars, i + 2)
    while i < n:
        keys[i] = (pair(ones, chars, i) * base_2 + pair(ones, chars, i + 2)) >> shift
        i += 1


cdef void hash_fours(
    const Roller* ones, Py_ssize_t start, Py_ssize_t n, uint64_t* keys, uint64_t* prefixes
) noexcept nogil:
    """Write the hashes of `n` 4-grams, the first at `start`, and of every fourth prefix of them, for add_hashes().

    `ones` is a roller of k = 1.
    """
    if ones.width == 1:
        hash_fours_of(ones, <const uint8_t*>ones.chars + start, n, keys, prefixes)
    elif ones.width == 2:
        hash_fours_of(ones, <const uint16_t*>ones.chars + start, n, keys, prefixes)
    else:
        hash_fours_of(ones, <const uint32_t*>ones.chars + start, n, keys, prefixes)


cdef inline uint64_t prefix_hash(
    const Roller* grams, const Char* chars, const uint64_t* prefixes, Py_ssize_t length
) noexcept nogil:
    """Return the hash of the first `length` characters: of the nearest prefix in `prefixes`, and up to three more."""
    cdef Py_ssize_t rest = length & 3
    cdef const Char* more = chars + length - rest
    cdef const uint64_t* factors = grams.factors[rest]
    # Without a branch, which would be hard to predict: a character beyond `length` is read as the first, times 0.
    return (
        prefixes[length >> 2] * factors[3]
        + enters(grams, more[0]) * factors[0]
        + enters(grams, more[1 if rest > 1 else 0]) * factors[1]
        + enters(grams, more[2 if rest > 2 else 0]) * factors[2]
    )


cdef void add_hashes_of(
    const Roller* grams, const Char* chars, const uint64_t* prefixes, const uint32_t* places, Py_ssize_t count,
    uint64_t* keys
) noexcept nogil:
    cdef uint64_t hash
    cdef Py_ssize_t i
    for i in range(count):
        hash = prefix_hash(grams, chars, prefixes, places[i] + grams.k)
        hash -= prefix_hash(grams, chars, prefixes, places[i]) * grams.base_k
        keys[places[i]] += hash >> (64 - HASH_BITS)


cdef void add_hashes(
    const Roller* grams, Py_ssize_t start, const uint64_t* prefixes, const uint32_t* places, Py_ssize_t count,
    uint64_t* keys
) noexcept nogil:
    """Add the hash of each k-gram at `places`, counted from `start`, to its key, which has only its class so far."""
    if grams.width == 1:
        add_hashes_of(grams, <const uint8_t*>grams.chars + start, prefixes, places, count, keys)
    elif grams.width == 2:
        add_hashes_of(grams, <const uint16_t*>grams.chars + start, prefixes, places, count, keys)
    else:
        add_hashes_of(grams, <const uint32_t*>grams.chars + start, prefixes, places, count, keys)


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
