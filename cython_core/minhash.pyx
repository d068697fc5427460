"""MinHash signatures of a page's shingles, their packed form, and their bands.

Each bin of a signature holds one shingle of the page. Two pages hold the same shingle in a bin with a probability equal
to their resemblance.
"""

import array

from cpython cimport array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport UINT32_MAX, UINT64_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes
from opensearch_winnow.cython_core.hashing cimport mix

cdef array.array EMPTY = array.array("Q")

cdef enum:
    # Rounds before the bins widen. With fewer, pages below 100 shingles are estimated worse than claimed; with more,
    # all pages take longer for little gain. The figures are in docs/decisions/0004-sketches.md.
    ROUNDS = 8

cdef uint64_t STEP = 0x9E3779B97F4A7C15  # separates rounds, bins and bands; odd, so that its multiples are distinct


def minhash(shingles, Py_ssize_t bins=1024) -> array.array:
    """Return the one-permutation MinHash of `shingles`, every bin filled (typecode 'Q'); empty if there are none.

    All shingles are thrown into the bins by their top bits, and each bin keeps the smallest. While bins are empty, the
    shingles are hashed anew and thrown again, for the empty bins only. After some rounds they are thrown into fewer and
    wider bins, each of which fills several empty ones, so that even a single shingle soon fills them all.

    In each bin, every shingle of the union of two pages is equally likely to be the smallest, and the pages agree
    exactly if both have it. So the share of equal bins is an unbiased estimate of the resemblance. Neither order nor
    repeats of the shingles matter.
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"minhash() expects 1 to {MAX_BINS} bins, got {bins}")
    cdef const uint64_t[::1] page = hashes(shingles, "minhash")
    cdef Py_ssize_t n = page.shape[0]
    cdef array.array result = array.clone(EMPTY, bins if n else 0, zero=False)
    cdef uint64_t* scratch
    if n:
        with nogil:
            scratch = <uint64_t*>malloc(bins * SCRATCH_PER_BIN)
            if scratch == NULL:
                raise MemoryError(f"no memory for {bins} bins")
            fill_bins(&page[0], n, <uint64_t*>result.data.as_ulonglongs, <uint32_t>bins, scratch)
            free(scratch)
    return result


def pack(minhash, Py_ssize_t bits=4) -> bytes:
    """Pack a MinHash to `bits` (1, 2, 4, 8 or 16) per bin, the first bin in the lowest bits: b-bit MinHash.

    Different values agree in these bits with probability 2**-bits, which the estimate corrects. The bits come from a
    hash of value and bin, because a value's own bits may all be 0 (a shingle of MOD_m), and because bins that hold the
    same two values should not agree or differ together.
    """
    cdef const uint64_t[::1] values = hashes(minhash, "pack")
    cdef Py_ssize_t n = values.shape[0]
    if bits not in (1, 2, 4, 8, 16):
        raise ValueError(f"pack() expects 1, 2, 4, 8 or 16 bits per bin, not {bits}")
    if n * bits % 8:
        raise ValueError(f"pack() expects whole bytes, and {n} bins of {bits} bits are not")
    cdef bytes packed = PyBytes_FromStringAndSize(NULL, n * bits // 8)
    cdef uint8_t* target = <uint8_t*>PyBytes_AS_STRING(packed)
    with nogil:
        pack_bins(&values[0] if n else NULL, n, bits, target)
    return packed


def bands(minhash, Py_ssize_t count, Py_ssize_t rows) -> array.array:
    """Return a hash for each of `count` bands of `rows` bins, from the first count * rows bins (typecode 'Q').

    Two pages of resemblance J share at least one band with probability 1 - (1 - J**rows)**count. Equal values give
    different hashes in different bands, so all bands of a page can be tokens of one field.
    """
    cdef const uint64_t[::1] values = hashes(minhash, "bands")
    if count < 1 or rows < 1:
        raise ValueError(f"bands() expects at least 1 band of at least 1 row, got {count} of {rows}")
    if values.shape[0] == 0:
        return array.array("Q")
    if rows > values.shape[0] // count:
        raise ValueError(f"bands() cannot make {count} bands of {rows} rows from {values.shape[0]} bins")
    cdef array.array result = array.clone(EMPTY, count, zero=False)
    with nogil:
        hash_bands(&values[0], count, rows, <uint64_t*>result.data.as_ulonglongs)
    return result


cdef void fill_bins(
    const uint64_t* shingles, Py_ssize_t n, uint64_t* values, uint32_t bins, uint64_t* thrown
) noexcept nogil:
    """Make the MinHash of one shingle or more. `thrown` has room for SCRATCH_PER_BIN bytes per bin."""
    cdef uint32_t* empty = <uint32_t*>(thrown + bins)  # the indices of the empty bins
    cdef uint32_t bin, i, empties = 0, still, round = 0, wide = bins, mask = UINT32_MAX
    cdef uint64_t value
    _throw(shingles, n, 1, values, bins)
    for bin in range(bins):
        empty[empties] = bin
        empties += values[bin] == UINT64_MAX
    while empties:
        round += 1
        if round % ROUNDS == 0:
            # Twice as wide, for twice as many rounds. The bins that one wide bin fills are far apart: not in one band.
            wide = _power_of_two(max(bins // _power_of_two(1 + round // ROUNDS), 1))
            mask = wide - 1
        _throw(shingles, n, mix(round * STEP) | 1, thrown, wide)
        still = 0
        for i in range(empties):
            bin = empty[i]
            value = thrown[bin & mask]
            values[bin] = value
            empty[still] = bin
            still += value == UINT64_MAX
        empties = still


cdef void pack_bins(const uint64_t* values, Py_ssize_t n, Py_ssize_t bits, uint8_t* target) noexcept nogil:
    """Write `bits` per bin to `target`."""
    cdef uint64_t kept, step = STEP, mask = (<uint64_t>1 << bits) - 1
    cdef Py_ssize_t i, first = 0, each = max(1, 8 // bits)  # bins in a byte
    while first < n:
        kept = 0
        for i in range(each):
            kept |= (mix(values[first + i] + (first + i) * step) & mask) << (i * bits)
        target[0] = kept & 0xFF
        if bits == 16:
            target += 1
            target[0] = kept >> 8
        target += 1
        first += each


cdef void hash_bands(const uint64_t* values, Py_ssize_t count, Py_ssize_t rows, uint64_t* target) noexcept nogil:
    """Write a hash for each of `count` bands of `rows` bins to `target`."""
    cdef Py_ssize_t band, i
    cdef uint64_t total
    for band in range(count):
        total = (band + 1) * STEP
        for i in range(band * rows, (band + 1) * rows):
            total = mix(total ^ values[i])
        target[band] = total


cdef void _throw(
    const uint64_t* shingles, Py_ssize_t n, uint64_t multiplier, uint64_t* values, uint32_t bins
) noexcept nogil:
    """Put the smallest hash of each bin into `values`; UINT64_MAX is an empty bin, and a hash of that value is ignored.

    Shingles are hashes already, so their product with an odd number serves as a new hash.
    """
    cdef Py_ssize_t i
    cdef uint32_t bin
    cdef uint64_t value
    for bin in range(bins):
        values[bin] = UINT64_MAX
    for i in range(n):
        value = shingles[i] * multiplier
        bin = <uint32_t>(((value >> 32) * bins) >> 32)
        values[bin] = min(values[bin], value)


cdef inline uint32_t _power_of_two(uint32_t x) noexcept nogil:
    """Return the largest power of two that is at most `x`."""
    while x & (x - 1):
        x &= x - 1
    return x
