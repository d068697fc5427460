"""Whether the pages of pairs resemble each other, as far as their packed MinHashes tell.

A pair is an integer: the number of the later page, and above 32 bits that of the earlier.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport hashes, kind, page_numbers
from opensearch_winnow.cython_core.differing_bins cimport (
    FEW, bins_of, differing_bins, most_alike, most_differing, resemblance, resemblance_error,
)

cdef enum Verdict:
    DIFFER = 0
    RESEMBLE = 1
    UNCLEAR = 2

DIFFERENT = DIFFER
ALIKE = RESEMBLE
UNCERTAIN = UNCLEAR

cdef array.array SHARES = array.array("d")
cdef array.array VERDICTS = array.array("B")


def pair_verdicts(
    pairs, minhashes, counts, Py_ssize_t size, *, double threshold, Py_ssize_t bits=4, double clear=5.0
) -> tuple[array.array, array.array, array.array]:
    """For each pair an estimate of its resemblance ('d'), the standard error ('d'), and a verdict ('B').

    `minhashes` are those of all pages by number, `size` bytes each, and `counts` their shingles ('I'). The verdict is
    DIFFERENT or ALIKE where the estimate is so many standard errors away from the threshold as `clear` says, twice as
    many for a page of few shingles; else UNCERTAIN. Pages whose numbers of shingles rule it out are DIFFERENT.
    """
    cdef const uint64_t[::1] pair = hashes(pairs, "pair_verdicts")
    cdef const unsigned char[::1] packed = _bytes(minhashes)
    cdef const uint32_t[::1] shingles = page_numbers(counts, "pair_verdicts")
    cdef Py_ssize_t i, differing, n = pair.shape[0], pages = shingles.shape[0]
    cdef Py_ssize_t bins = bins_of(size, bits, "pair_verdicts")
    cdef uint32_t earlier, later
    cdef double most, value
    if size < 1 or packed.shape[0] != pages * size:
        raise ValueError(f"pair_verdicts() wants {pages} MinHashes of {size} bytes, got {packed.shape[0]} bytes")
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"pair_verdicts() wants a threshold above 0 and up to 1, got {threshold}")
    if not clear >= 0.0:
        raise ValueError(f"pair_verdicts() wants 0 standard errors or more to be clear, got {clear}")
    for i in range(n):
        if max(pair[i] >> 32, pair[i] & UINT32_MAX) >= <uint64_t>pages:
            raise ValueError(f"there are {pages} pages, not {pair[i] >> 32} and {pair[i] & UINT32_MAX} of a pair")
    cdef Py_ssize_t surely = most_differing(bins, bits, threshold, -clear)
    cdef Py_ssize_t surely_few = most_differing(bins, bits, threshold, -2.0 * clear)
    cdef Py_ssize_t maybe = most_differing(bins, bits, threshold, clear)
    cdef Py_ssize_t maybe_few = most_differing(bins, bits, threshold, 2.0 * clear)
    cdef array.array values = array.clone(SHARES, n, zero=False)
    cdef array.array errors = array.clone(SHARES, n, zero=False)
    cdef array.array verdicts = array.clone(VERDICTS, n, zero=False)
    cdef bint few
    with nogil:
        for i in range(n):
            earlier = <uint32_t>(pair[i] >> 32)
            later = <uint32_t>(pair[i] & UINT32_MAX)
            differing = differing_bins(&packed[earlier * size], &packed[later * size], size, bits, bins)
            most = most_alike(shingles[earlier], shingles[later])
            value = resemblance(differing, bins, bits)
            values.data.as_doubles[i] = min(max(value, 0.0), most)
            errors.data.as_doubles[i] = resemblance_error(differing, bins, bits)
            few = min(shingles[earlier], shingles[later]) < FEW
            if most < threshold or differing > (maybe_few if few else maybe):
                verdicts.data.as_uchars[i] = DIFFER
            elif differing <= (surely_few if few else surely):
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
    raise TypeError(f"pair_verdicts() wants MinHashes as bytes, got {kind(values)}")
