"""Groups ranked pages: each page joins the first representative that it resembles.

A page that resembles no representative before it becomes one itself. So no group is a chain, and no two representatives
resemble each other. (The literature calls this leader clustering.) Estimates from packed MinHashes decide alone where
they are clear, that is, several standard errors away from the threshold. Other pairs are uncertain: the caller supplies
their exact resemblances.
"""

import array

from cpython cimport array
from libc.math cimport NAN, isnan
from libc.stdint cimport INT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes, kind
from opensearch_winnow.cython_core.differing_bins cimport (
    SHORT_PAGE_SHINGLES, bins_of, differing_bins, max_resemblance, max_differing_bins, resemblance, resemblance_error,
)
from opensearch_winnow.cython_core.pair_list cimport PairList, append, is_complete, take_array

cdef enum Decision:
    IS_REPRESENTATIVE = -1
    IS_UNDECIDED = -2

REPRESENTATIVE = IS_REPRESENTATIVE
UNDECIDED = IS_UNDECIDED

cdef array.array PAIRS = array.array("Q")
cdef array.array INDICES = array.array("i")
cdef array.array DOUBLES = array.array("d")

cdef enum:
    # Bytes of a MinHash that are compared first. Most pages have little in common, and a quarter of the bins shows it.
    PREFILTER_BYTES = 128


cdef struct Bounds:
    # Largest numbers of differing bins at which two pages
    Py_ssize_t surely  # certainly resemble each other
    Py_ssize_t maybe  # may resemble each other
    Py_ssize_t maybe_at_first  # may resemble each other, judged by the first PREFILTER_BYTES


cdef class RepresentativeAssignment:
    """Assigns each page to a representative; pages are known by their index.

    `minhashes` are packed MinHashes of one size, one after another. `counts` ('I') are the numbers of shingles; a page
    with 0 resembles no other, and its bytes in `minhashes` are ignored. The first `ready` pages are representatives
    already. An estimate is clear if it is `clear` standard errors away from the threshold, twice as many for pages with
    fewer than SHORT_PAGE_SHINGLES. A pair is the integer later << 32 | earlier.
    """

    # 'i': for each page the index of the one it joins, or REPRESENTATIVE, or UNDECIDED
    cdef readonly array.array representatives
    cdef readonly array.array resemblances  # 'd': to the representative; NaN if there is none
    cdef readonly array.array errors  # 'd': standard error of the resemblance; 0 if exact
    cdef const unsigned char[::1] minhashes
    cdef const uint32_t[::1] counts
    cdef Py_ssize_t size, first, bins, bits
    cdef double threshold
    cdef Bounds usual, short_page

    def __cinit__(self, minhashes, counts, Py_ssize_t ready, *, double threshold, Py_ssize_t bits=4, double clear=5.0):
        self.minhashes = _bytes(minhashes)
        self.counts = _counts(counts)
        cdef Py_ssize_t i, n = self.counts.shape[0], total = self.minhashes.shape[0]
        cdef bint decided
        self.size = total // n if n else 0
        self.first = min(self.size, PREFILTER_BYTES)
        self.bins = bins_of(self.size, bits, "RepresentativeAssignment")
        self.bits = bits
        self.threshold = threshold
        if self.size * n != total:
            raise ValueError(f"RepresentativeAssignment() expects {n} MinHashes of equal size, got {total} bytes")
        if not 0 <= ready <= n <= INT32_MAX:
            raise ValueError(f"RepresentativeAssignment() expects 0 to {n} representatives, got {ready}")
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"RepresentativeAssignment() expects a threshold above 0 and up to 1, got {threshold}")
        if not clear >= 0.0:
            raise ValueError(f"RepresentativeAssignment() expects `clear` to be 0 or more standard errors, got {clear}")
        self.representatives = array.clone(INDICES, n, zero=False)
        self.resemblances = array.clone(DOUBLES, n, zero=False)
        self.errors = array.clone(DOUBLES, n, zero=False)
        for i in range(n):
            decided = i < ready or not self._comparable(i)
            self.representatives.data.as_ints[i] = IS_REPRESENTATIVE if decided else IS_UNDECIDED
            self.resemblances.data.as_doubles[i] = self.errors.data.as_doubles[i] = NAN
        self.usual = self._bounds(clear)
        self.short_page = self._bounds(2.0 * clear)

    def decide(self, known, exact, Py_ssize_t at_most) -> array.array:
        """Decide as many pages as possible and return the uncertain pairs that others wait for ('Q'), ascending.

        `known` are pairs returned before, ascending, and `exact` ('d') their resemblances; for NaN the estimate
        decides. At most `at_most` pairs per page are returned, the first ones. When none is returned, every page is
        decided.
        """
        cdef const uint64_t[::1] pairs = hashes(known, "decide")
        cdef const double[::1] values = _doubles(exact)
        cdef Py_ssize_t i, n = pairs.shape[0]
        if n != values.shape[0]:
            raise ValueError(f"decide() expects a resemblance for each of {n} pairs, got {values.shape[0]}")
        for i in range(1, n):
            if pairs[i - 1] >= pairs[i]:
                raise ValueError("decide() expects pairs in ascending order, each once")
        if at_most < 1:
            raise ValueError(f"decide() expects `at_most` to be 1 pair or more, got {at_most}")
        cdef PairList uncertain = PairList(NULL, 0, 0)
        cdef bint done
        with nogil:
            done = self._decide(pairs, values, at_most, &uncertain)
        cdef array.array result = take_array(&uncertain, PAIRS)
        if not done:
            raise MemoryError(f"decide() could not get memory for {self.counts.shape[0]} pages")
        return result

    cdef bint _comparable(self, Py_ssize_t page) noexcept nogil:
        return self.bins > 0 and self.counts[page] > 0

    cdef Bounds _bounds(self, double clear):
        cdef Py_ssize_t at_first = self.first * 8 // self.bits
        return Bounds(
            max_differing_bins(self.bins, self.bits, self.threshold, -clear),
            max_differing_bins(self.bins, self.bits, self.threshold, clear),
            max_differing_bins(at_first, self.bits, self.threshold, clear + 1.0),  # + 1: a second test may err too
        )

    cdef bint _decide(
        self, const uint64_t[::1] known, const double[::1] exact, Py_ssize_t at_most, PairList* uncertain
    ) noexcept nogil:
        """Go through all pages in order; return False if there is no memory."""
        cdef Py_ssize_t n = self.counts.shape[0], page, count = 0, next_known = 0
        cdef int* representatives = self.representatives.data.as_ints
        cdef uint32_t* may_represent = <uint32_t*>malloc(n * sizeof(uint32_t) + 1)  # + 1: never an empty block
        cdef bint done = may_represent != NULL
        for page in range(n if done else 0):
            if not self._comparable(page):
                continue
            if representatives[page] == IS_REPRESENTATIVE or (
                representatives[page] == IS_UNDECIDED
                and self._decide_page(page, may_represent, count, known, exact, &next_known, at_most, uncertain)
            ):
                may_represent[count] = <uint32_t>page
                count += 1
            if not is_complete(uncertain):
                done = False
                break
        free(may_represent)
        return done

    cdef bint _decide_page(
        self, Py_ssize_t page, const uint32_t* may_represent, Py_ssize_t count, const uint64_t[::1] known,
        const double[::1] exact, Py_ssize_t* next_known, Py_ssize_t at_most, PairList* uncertain
    ) noexcept nogil:
        """Compare `page` with earlier pages that are or may become representatives; return whether it may be one."""
        cdef const unsigned char* minhash = &self.minhashes[page * self.size]
        cdef const unsigned char* other
        cdef Py_ssize_t first = self.first
        cdef int* representatives = self.representatives.data.as_ints
        cdef Py_ssize_t i, earlier, differing, requested = 0, k = next_known[0]
        cdef uint32_t smaller
        cdef const Bounds* bounds
        cdef double highest, value, error
        cdef uint64_t pair
        cdef bint waits = False
        for i in range(count):
            earlier = may_represent[i]
            smaller = min(self.counts[page], self.counts[earlier])
            highest = max_resemblance(self.counts[page], self.counts[earlier])
            if highest < self.threshold:
                continue
            bounds = &self.short_page if smaller < SHORT_PAGE_SHINGLES else &self.usual
            other = &self.minhashes[earlier * self.size]
            differing = differing_bins(other, minhash, first, self.bits, first * 8)
            if differing > bounds.maybe_at_first:
                continue
            differing += differing_bins(
                other + first, minhash + first, self.size - first, self.bits, bounds.maybe - differing
            )
            if differing > bounds.maybe:
                continue
            value = min(resemblance(differing, self.bins, self.bits), highest)
            error = resemblance_error(differing, self.bins, self.bits)
            if differing > bounds.surely:
                pair = (<uint64_t>page << 32) | <uint64_t>earlier
                while k < known.shape[0] and known[k] < pair:
                    k += 1
                if k == known.shape[0] or known[k] != pair:
                    waits = True
                    if requested < at_most:
                        requested += 1
                        append(uncertain, pair)
                    continue
                if not isnan(exact[k]):
                    value = exact[k]
                    error = 0.0
                if value < self.threshold:
                    continue
            if representatives[earlier] == IS_UNDECIDED:
                waits = True
                continue
            if not waits:
                representatives[page] = <int>earlier
                self.resemblances.data.as_doubles[page] = value
                self.errors.data.as_doubles[page] = error
            next_known[0] = k
            return False  # it joins this representative, or an earlier one that is uncertain
        if not waits:
            representatives[page] = IS_REPRESENTATIVE
        next_known[0] = k
        return True


cdef const unsigned char[::1] _bytes(object values):
    if not isinstance(values, (bytes, bytearray, memoryview)):
        raise TypeError(f"RepresentativeAssignment() expects MinHashes as bytes, got {kind(values)}")
    return values


cdef const uint32_t[::1] _counts(object values):
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"RepresentativeAssignment() expects counts as an array of typecode 'I', got {kind(values)}")


cdef const double[::1] _doubles(object values):
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"decide() expects resemblances as an array of typecode 'd', got {kind(values)}")
