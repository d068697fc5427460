"""Verdicts on pairs of pages from their packed MinHashes: alike, different, or uncertain.

A pair of page numbers is the integer earlier << 32 | later.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.differing_bins cimport (
    SHORT_PAGE_SHINGLES, bins_of, differing_bins, max_resemblance, max_differing_bins, resemblance, resemblance_error,
)

cdef enum Verdict:
    DIFFER = 0
    RESEMBLE = 1
    UNCLEAR = 2

DIFFERENT = DIFFER
ALIKE = RESEMBLE
UNCERTAIN = UNCLEAR

cdef array.array DOUBLES = array.array("d")
cdef array.array VERDICTS = array.array("B")


def pair_verdicts(
    pairs, minhashes, counts, Py_ssize_t size, *, double threshold, Py_ssize_t bits=4, double clear=5.0
) -> tuple[array.array, array.array, array.array]:
    """Return for each pair the estimated resemblance ('d'), its standard error ('d'), and a verdict ('B').

    `minhashes` are the packed MinHashes of all pages by number, `size` bytes each, and `counts` ('I') their numbers of
    shingles. The verdict is DIFFERENT or ALIKE if the estimate is `clear` standard errors away from the threshold,
    twice as many for pages with fewer than SHORT_PAGE_SHINGLES; otherwise UNCERTAIN. Pages whose numbers of shingles
    alone rule out the threshold are DIFFERENT.
    """
    cdef const uint64_t[::1] pair = hashes(pairs, "pair_verdicts")
    cdef const unsigned char[::1] packed = _bytes(minhashes)
    cdef const uint32_t[::1] shingles = page_numbers(counts, "pair_verdicts")
    cdef Py_ssize_t i, differing, n = pair.shape[0], pages = shingles.shape[0]
    cdef Py_ssize_t bins = bins_of(size, bits, "pair_verdicts")
    cdef uint32_t earlier, later
    cdef double highest, value
    if size < 1 or packed.shape[0] % size or packed.shape[0] // size != pages:  # pages * size could overflow
        raise ValueError(f"pair_verdicts() expects {pages} MinHashes of {size} bytes, got {packed.shape[0]} bytes")
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"pair_verdicts() expects a threshold above 0 and up to 1, got {threshold}")
    if not clear >= 0.0:
        raise ValueError(f"pair_verdicts() expects `clear` to be 0 or more standard errors, got {clear}")
    for i in range(n):
        if max(pair[i] >> 32, pair[i] & UINT32_MAX) >= <uint64_t>pages:
            raise ValueError(f"the pair {pair[i] >> 32}, {pair[i] & UINT32_MAX} is not of the {pages} pages")
    if n == 0:  # without pages, any size was accepted: the next four would count its bins
        return array.clone(DOUBLES, 0, zero=False), array.clone(DOUBLES, 0, zero=False), array.clone(VERDICTS, 0, False)
    cdef Py_ssize_t surely = max_differing_bins(bins, bits, threshold, -clear)
    cdef Py_ssize_t surely_short = max_differing_bins(bins, bits, threshold, -2.0 * clear)
    cdef Py_ssize_t maybe = max_differing_bins(bins, bits, threshold, clear)
    cdef Py_ssize_t maybe_short = max_differing_bins(bins, bits, threshold, 2.0 * clear)
    cdef array.array values = array.clone(DOUBLES, n, zero=False)
    cdef array.array errors = array.clone(DOUBLES, n, zero=False)
    cdef array.array verdicts = array.clone(VERDICTS, n, zero=False)
    cdef bint short
    with nogil:
        for i in range(n):
            earlier = <uint32_t>(pair[i] >> 32)
            later = <uint32_t>(pair[i] & UINT32_MAX)
            differing = differing_bins(&packed[earlier * size], &packed[later * size], size, bits, bins)
            highest = max_resemblance(shingles[earlier], shingles[later])
            value = resemblance(differing, bins, bits)
            values.data.as_doubles[i] = min(max(value, 0.0), highest)
            errors.data.as_doubles[i] = resemblance_error(differing, bins, bits)
            short = min(shingles[earlier], shingles[later]) < SHORT_PAGE_SHINGLES
            if highest < threshold or differing > (maybe_short if short else maybe):
                verdicts.data.as_uchars[i] = DIFFER
            elif differing <= (surely_short if short else surely):
                verdicts.data.as_uchars[i] = RESEMBLE
            else:
                verdicts.data.as_uchars[i] = UNCLEAR
    return values, errors, verdicts


cdef const unsigned char[::1] _bytes(object values):
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"pair_verdicts() expects MinHashes as bytes, got {kind(values)}")
