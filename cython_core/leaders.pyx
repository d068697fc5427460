"""Which representative each page joins, of pages in their order: the first that it resembles.

A page that resembles no representative before it is one itself: it leads. So no group is a chain, and no two leaders
resemble each other. Estimates from packed MinHashes decide alone where they are clear: some standard errors away from
the threshold. Pairs for which they are not are uncertain, and somebody who has the texts is asked.
"""

import array

from cpython cimport array
from libc.math cimport NAN, isnan
from libc.stdint cimport INT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.arrays cimport hashes, kind
from opensearch_winnow.cython_core.differing_bins cimport (
    FEW, bins_of, differing_bins, most_alike, most_differing, resemblance, resemblance_error,
)
from opensearch_winnow.cython_core.pair_list cimport PairList, append, complete, taken

cdef enum Standing:
    LEADS = -1
    OPEN = -2

LEADER = LEADS
UNDECIDED = OPEN

cdef array.array PAIRS = array.array("Q")
cdef array.array PLACES = array.array("i")
cdef array.array SHARES = array.array("d")

cdef enum:
    # Bytes of a MinHash that are looked at first. Most pages have little in common, and a quarter of the bins tells.
    FIRST = 128


cdef struct Bounds:
    # How many bins of two pages differ at most if they surely resemble each other, if they may, and if they may by the
    # first bytes.
    Py_ssize_t surely
    Py_ssize_t maybe
    Py_ssize_t maybe_at_first


cdef class Joins:
    """The pages of a window behind the leaders that are known, by their places in what is given.

    `minhashes` are packed, one after another; `counts` are the shingles of each page ('I'), 0 for one that has no
    MinHash, or bytes of any kind in its place: it resembles none. The first `ready` pages lead. `clear` is how many
    standard errors are; for a page of few shingles, twice as many. A pair is an integer: the place of the later page,
    above 32 bits for the place of the earlier.
    """

    cdef readonly array.array leaders  # 'i': for each page the place of the one that it joins, LEADER or UNDECIDED
    cdef readonly array.array resemblances  # 'd': to it; else not a number
    cdef readonly array.array errors  # 'd': of that; 0 where it is exact
    cdef const unsigned char[::1] minhashes
    cdef const uint32_t[::1] counts
    cdef Py_ssize_t size, first, bins, bits
    cdef double threshold
    cdef Bounds usual, of_few

    def __cinit__(self, minhashes, counts, Py_ssize_t ready, *, double threshold, Py_ssize_t bits=4, double clear=5.0):
        self.minhashes = _bytes(minhashes)
        self.counts = _counts(counts)
        cdef Py_ssize_t i, n = self.counts.shape[0], total = self.minhashes.shape[0]
        self.size = total // n if n else 0
        self.first = min(self.size, FIRST)
        self.bins = bins_of(self.size, bits, "Joins")
        self.bits = bits
        self.threshold = threshold
        if self.size * n != total:
            raise ValueError(f"Joins() wants {n} MinHashes of one size, got {total} bytes of them")
        if not 0 <= ready <= n <= INT32_MAX:
            raise ValueError(f"Joins() wants 0 to {n} pages that lead, got {ready}")
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"Joins() wants a threshold above 0 and up to 1, got {threshold}")
        if not clear >= 0.0:
            raise ValueError(f"Joins() wants 0 standard errors or more to be clear, got {clear}")
        self.leaders = array.clone(PLACES, n, zero=False)
        self.resemblances = array.clone(SHARES, n, zero=False)
        self.errors = array.clone(SHARES, n, zero=False)
        for i in range(n):
            self.leaders.data.as_ints[i] = LEADS if i < ready or not self._comparable(i) else OPEN
            self.resemblances.data.as_doubles[i] = self.errors.data.as_doubles[i] = NAN
        self.usual = self._bounds(clear)
        self.of_few = self._bounds(2.0 * clear)

    def decide(self, known, exact, Py_ssize_t at_most) -> array.array:
        """Decide about as many pages as can be; the uncertain pairs that others wait for ('Q'), in ascending order.

        `known` are pairs that were uncertain, in ascending order, and `exact` their resemblances ('d'); for one that is
        not a number the estimate decides. Of each page not more than `at_most` pairs are asked for, the first. When
        there are none all is decided.
        """
        cdef const uint64_t[::1] pairs = hashes(known, "decide")
        cdef const double[::1] values = _shares(exact)
        cdef Py_ssize_t i, n = pairs.shape[0]
        if n != values.shape[0]:
            raise ValueError(f"decide() wants a resemblance for each of {n} pairs, got {values.shape[0]}")
        for i in range(1, n):
            if pairs[i - 1] >= pairs[i]:
                raise ValueError("decide() wants pairs in ascending order, each once")
        if at_most < 1:
            raise ValueError(f"decide() wants to ask for 1 pair of a page or more, got {at_most}")
        cdef PairList uncertain = PairList(NULL, 0, 0)
        cdef bint done
        with nogil:
            done = self._decide(pairs, values, at_most, &uncertain)
        cdef array.array result = taken(&uncertain, PAIRS)
        if not done:
            raise MemoryError(f"decide() could not get memory for {self.counts.shape[0]} pages")
        return result

    cdef bint _comparable(self, Py_ssize_t page) noexcept nogil:
        return self.bins > 0 and self.counts[page] > 0

    cdef Bounds _bounds(self, double clear):
        cdef Py_ssize_t at_first = self.first * 8 // self.bits
        return Bounds(
            most_differing(self.bins, self.bits, self.threshold, -clear),
            most_differing(self.bins, self.bits, self.threshold, clear),
            most_differing(at_first, self.bits, self.threshold, clear + 1.0),  # it is one more chance to err
        )

    cdef bint _decide(
        self, const uint64_t[::1] known, const double[::1] exact, Py_ssize_t at_most, PairList* uncertain
    ) noexcept nogil:
        """False if there is no memory."""
        cdef Py_ssize_t n = self.counts.shape[0], page, standing = 0, looked_up = 0
        cdef int* leaders = self.leaders.data.as_ints
        cdef uint32_t* may_lead = <uint32_t*>malloc(n * sizeof(uint32_t) + 1)  # + 1: never an empty block
        cdef bint done = may_lead != NULL
        for page in range(n if done else 0):
            if not self._comparable(page):
                continue
            if leaders[page] == LEADS or (
                leaders[page] == OPEN
                and self._decide_page(page, may_lead, standing, known, exact, &looked_up, at_most, uncertain)
            ):
                may_lead[standing] = <uint32_t>page
                standing += 1
            if not complete(uncertain):
                done = False
                break
        free(may_lead)
        return done

    cdef bint _decide_page(
        self, Py_ssize_t page, const uint32_t* may_lead, Py_ssize_t standing, const uint64_t[::1] known,
        const double[::1] exact, Py_ssize_t* looked_up, Py_ssize_t at_most, PairList* uncertain
    ) noexcept nogil:
        """Whether the page leads, or may: all leaders before it, and all that may, are looked at in their order."""
        cdef const unsigned char* ours = &self.minhashes[page * self.size]
        cdef const unsigned char* theirs
        cdef Py_ssize_t first = self.first
        cdef int* leaders = self.leaders.data.as_ints
        cdef Py_ssize_t i, earlier, differing, asked = 0, k = looked_up[0]
        cdef uint32_t smaller
        cdef const Bounds* bounds
        cdef double most, value, error
        cdef uint64_t pair
        cdef bint waits = False
        for i in range(standing):
            earlier = may_lead[i]
            smaller = min(self.counts[page], self.counts[earlier])
            most = most_alike(self.counts[page], self.counts[earlier])
            if most < self.threshold:
                continue
            bounds = &self.of_few if smaller < FEW else &self.usual
            theirs = &self.minhashes[earlier * self.size]
            differing = differing_bins(theirs, ours, first, self.bits, first * 8)
            if differing > bounds.maybe_at_first:
                continue
            differing += differing_bins(
                theirs + first, ours + first, self.size - first, self.bits, bounds.maybe - differing
            )
            if differing > bounds.maybe:
                continue
            value = min(resemblance(differing, self.bins, self.bits), most)
            error = resemblance_error(differing, self.bins, self.bits)
            if differing > bounds.surely:
                pair = (<uint64_t>page << 32) | <uint64_t>earlier
                while k < known.shape[0] and known[k] < pair:
                    k += 1
                if k == known.shape[0] or known[k] != pair:
                    waits = True
                    if asked < at_most:
                        asked += 1
                        append(uncertain, pair)
                    continue
                if not isnan(exact[k]):
                    value = exact[k]
                    error = 0.0
                if value < self.threshold:
                    continue
            if leaders[earlier] == OPEN:
                waits = True
                continue
            if not waits:
                leaders[page] = <int>earlier
                self.resemblances.data.as_doubles[page] = value
                self.errors.data.as_doubles[page] = error
            looked_up[0] = k
            return False  # whichever it joins
        if not waits:
            leaders[page] = LEADS
        looked_up[0] = k
        return True


cdef const unsigned char[::1] _bytes(object values):
    if not isinstance(values, (bytes, bytearray, memoryview)):
        raise TypeError(f"Joins() wants MinHashes as bytes, got {kind(values)}")
    return values


cdef const uint32_t[::1] _counts(object values):
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"Joins() wants counts as an array of typecode 'I', got {kind(values)}")


cdef const double[::1] _shares(object values):
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"decide() wants resemblances as an array of typecode 'd', got {kind(values)}")
