"""The sketches of many texts at once, for clustering: sets of shingles, MOD_m sketches, packed MinHashes and bands.

The functions of shingles.pyx, sketches.pyx and minhash.pyx return the same for one text. Here the GIL is released once
for all texts, so that threads can share the work.
"""

import array

from cpython cimport array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.number cimport PyNumber_Index
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.canonical_text cimport CanonicalText
from opensearch_winnow.cython_core.minhash cimport MAX_BINS, SCRATCH_PER_BIN, fill_bins, hash_bands, pack_bins
from opensearch_winnow.cython_core.shingles cimport Numbers, Words, numbers_of, words_of, write_shingles
from opensearch_winnow.cython_core.sketches cimport make_set, multiples

cdef array.array HASHES = array.array("Q")
cdef array.array COUNTS = array.array("I")


cdef class TextSketches:
    """The sketches of `texts`, one after the other, in flat arrays.

    `shingle_counts` and `sketch_counts` ('I') have a number for each text. `shingles` and `sketch` ('Q') have the
    sorted sets. `minhash` and `bands` ('Q') have bins * bits / 8 bytes, and as many hashes as there are bands, for each
    text that has shingles.
    """

    cdef readonly array.array shingle_counts
    cdef readonly array.array shingles
    cdef readonly array.array sketch_counts
    cdef readonly array.array sketch
    cdef readonly bytes minhash
    cdef readonly array.array bands
    cdef Py_ssize_t width, bins, bits, band_count, rows
    cdef uint64_t key, modulus

    def __cinit__(self, list texts not None, *, width, key, modulus, bins, bits, bands, rows):
        self.width, self.bins, self.bits, self.band_count, self.rows = width, bins, bits, bands, rows
        self.key, self.modulus = PyNumber_Index(key), PyNumber_Index(modulus)
        if not (
            self.width >= 1 and self.modulus >= 1 and 1 <= self.bins <= MAX_BINS and bits in (1, 2, 4, 8, 16)
            and self.bins * self.bits % 8 == 0 and 1 <= self.band_count
            and 1 <= self.rows <= self.bins // self.band_count
        ):
            raise ValueError(
                f"TextSketches() cannot make shingles of {width} words, sketches modulo {modulus}, {bins} bins of"
                f" {bits} bits, and {bands} bands of {rows} rows"
            )
        cdef Py_ssize_t i, n = len(texts), total = 0, longest = 0, signed = 0
        cdef Words* words = <Words*>malloc(max(n, 1) * sizeof(Words))
        if words == NULL:
            raise MemoryError(f"no memory for {n} texts")
        try:
            for i in range(n):
                text = texts[i]
                if not isinstance(text, CanonicalText):
                    raise TypeError(f"TextSketches() expects a list of CanonicalText, got {type(text).__name__}")
                words[i] = words_of(text)
                total += words[i].count
                longest = max(longest, words[i].count)
                signed += words[i].count > 0
            self.shingle_counts = array.clone(COUNTS, n, zero=False)
            self.sketch_counts = array.clone(COUNTS, n, zero=False)
            self.shingles = array.clone(HASHES, total, zero=False)
            self.sketch = array.clone(HASHES, total, zero=False)
            self.bands = array.clone(HASHES, signed * self.band_count, zero=False)
            self.minhash = PyBytes_FromStringAndSize(NULL, signed * (self.bins * self.bits // 8))
            self._make(words, n, longest)
        finally:
            free(words)

    cdef int _make(self, const Words* words, Py_ssize_t n, Py_ssize_t longest) except -1:
        cdef uint64_t* shingles = <uint64_t*>self.shingles.data.as_ulonglongs
        cdef uint64_t* sketch = <uint64_t*>self.sketch.data.as_ulonglongs
        cdef uint64_t* bands = <uint64_t*>self.bands.data.as_ulonglongs
        cdef uint8_t* minhash = <uint8_t*>PyBytes_AS_STRING(self.minhash)
        cdef Py_ssize_t i, count, kept
        cdef Numbers own
        cdef const Numbers* numbers = numbers_of(self.key, &own)
        # For sorting, for the bins, and for the rounds that fill them.
        cdef uint64_t* spare = <uint64_t*>malloc(
            longest * sizeof(uint64_t) + self.bins * (sizeof(uint64_t) + SCRATCH_PER_BIN))
        if spare == NULL:
            raise MemoryError(f"no memory for texts of {longest} words")
        cdef uint64_t* values = spare + longest
        with nogil:
            for i in range(n):
                count = kept = 0
                if words[i].count:
                    count = write_shingles(&words[i], self.width, numbers, shingles)
                    count = make_set(shingles, count, spare)
                    kept = multiples(shingles, count, self.modulus, sketch)
                    fill_bins(shingles, count, values, <uint32_t>self.bins, values + self.bins)
                    pack_bins(values, self.bins, self.bits, minhash)
                    hash_bands(values, self.band_count, self.rows, bands)
                    minhash += self.bins * self.bits // 8
                    bands += self.band_count
                self.shingle_counts.data.as_uints[i] = <unsigned int>count
                self.sketch_counts.data.as_uints[i] = <unsigned int>kept
                shingles += count
                sketch += kept
            free(spare)
        array.resize(self.shingles, shingles - <uint64_t*>self.shingles.data.as_ulonglongs)
        array.resize(self.sketch, sketch - <uint64_t*>self.sketch.data.as_ulonglongs)
        return 0
