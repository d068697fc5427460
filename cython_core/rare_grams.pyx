"""Rare k-grams, whose first characters are the rarest in the text: Koala's fingerprints.

The frequency of a whole k-gram in a text says little about other texts; that of five letters in a row says more.
"""

import array

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memmove

from opensearch_winnow.cython_core.hashing cimport mix
from opensearch_winnow.cython_core.kgram_hashes cimport OTHER, Roller, hash_of, roll, roller

cdef enum:
    BEGINNING = 5           # characters of a k-gram whose frequency ranks it
    TOKEN_BITS = 32         # of a hash: 4 bytes, as in the paper
    BLOCK = 2048            # k-grams that are hashed at a time


cdef struct Counts:
    # How often each hash occurs: a table with open addressing.
    uint64_t* hashes
    uint32_t* counts
    uint64_t mask


cdef inline uint64_t place_of(const Counts* table, uint64_t hash) noexcept nogil:
    """Return the place of a hash in the table, or the free place where it belongs."""
    cdef uint64_t place = mix(hash) & table.mask
    while table.counts[place] and table.hashes[place] != hash:
        place = (place + 1) & table.mask
    return place


cdef inline Py_ssize_t first_not_below(const uint64_t* keys, Py_ssize_t n, uint64_t key) noexcept nogil:
    cdef Py_ssize_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t keep_smallest(
    const Roller* grams, const Roller* beginnings, const Counts* table, Py_ssize_t n, Py_ssize_t size,
    uint64_t* block, uint64_t* keys, uint32_t* tokens, uint32_t* places
) noexcept nogil:
    """Keep the `size` smallest different keys in order, with the token and first place of each; return their number."""
    cdef Py_ssize_t start = 0, fresh, i, at, kept = 0
    cdef uint64_t key, mixed
    while start < n:
        fresh = min(<Py_ssize_t>BLOCK, n - start)
        roll(grams, start, fresh, OTHER, block)
        roll(beginnings, start, fresh, OTHER, block + BLOCK)
        for i in range(fresh):
            # Other bits than those of the token rank k-grams: unrelated texts would share the smallest tokens.
            mixed = mix(hash_of(block[i]))
            key = <uint64_t>table.counts[place_of(table, hash_of(block[BLOCK + i]))] << TOKEN_BITS
            key |= mixed & ((<uint64_t>1 << TOKEN_BITS) - 1)
            if kept == size and key >= keys[kept - 1]:
                continue
            at = first_not_below(keys, kept, key)
            if at < kept and keys[at] == key:
                continue
            kept += kept < size
            memmove(keys + at + 1, keys + at, (kept - 1 - at) * sizeof(uint64_t))
            memmove(tokens + at + 1, tokens + at, (kept - 1 - at) * sizeof(uint32_t))
            memmove(places + at + 1, places + at, (kept - 1 - at) * sizeof(uint32_t))
            keys[at] = key
            tokens[at] = <uint32_t>(mixed >> (64 - TOKEN_BITS))
            places[at] = <uint32_t>(start + i)
        start += fresh
    return kept


def rare_grams(str chars not None, Py_ssize_t k, Py_ssize_t size, uint64_t key=0):
    """Return the 32-bit hashes ('Q') and positions ('I') of up to `size` different k-grams, the rarest first.

    A k-gram is rarer than another if its first five characters occur less often in the text; another hash breaks ties.
    A k-gram that occurs several times is at its first position. Memory: 24 to 48 bytes a character while the text is
    read.
    """
    cdef Py_ssize_t n = len(chars) - k + 1, start = 0, fresh, i, kept
    if k < 1 or size < 1:
        raise ValueError(f"k and size must be at least 1, not {k} and {size}")
    if <uint64_t>len(chars) > <uint64_t>0xFFFF_FFFF:
        raise ValueError(f"rare_grams() takes at most 2**32 - 1 characters, got {len(chars)}")
    if n < 1:
        return array.array("Q"), array.array("I")
    size = min(size, n)
    cdef:
        Roller grams = roller(chars, k, key)
        Roller beginnings = roller(chars, min(k, <Py_ssize_t>BEGINNING), key)
        Counts table
        uint64_t place, slots = 16
        array.array hashes = array.clone(array.array("Q"), size, zero=False)
        array.array positions = array.clone(array.array("I"), size, zero=False)
        uint64_t* keys = <uint64_t*>hashes.data.as_ulonglongs
        uint64_t* block = NULL
        uint32_t* tokens = NULL
    while slots < 2 * <uint64_t>n:
        slots *= 2
    table.mask = slots - 1
    table.hashes = <uint64_t*>malloc(slots * sizeof(uint64_t))
    table.counts = <uint32_t*>calloc(slots, sizeof(uint32_t))
    block = <uint64_t*>malloc(2 * BLOCK * sizeof(uint64_t))
    tokens = <uint32_t*>malloc(size * sizeof(uint32_t))
    try:
        if table.hashes is NULL or table.counts is NULL or block is NULL or tokens is NULL:
            raise MemoryError(f"no memory for the rare k-grams of {len(chars)} characters")
        with nogil:
            while start < n:
                fresh = min(<Py_ssize_t>BLOCK, n - start)
                roll(&beginnings, start, fresh, OTHER, block)
                for i in range(fresh):
                    place = place_of(&table, hash_of(block[i]))
                    table.hashes[place] = hash_of(block[i])
                    table.counts[place] += 1
                start += fresh
            kept = keep_smallest(&grams, &beginnings, &table, n, size, block, keys, tokens, positions.data.as_uints)
            for i in range(kept):
                keys[i] = tokens[i]
        array.resize(hashes, kept)
        array.resize(positions, kept)
        return hashes, positions
    finally:
        free(table.hashes)
        free(table.counts)
        free(block)
        free(tokens)
