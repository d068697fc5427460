"""The number of tokens that any two of many sets share, from postings: pairs that share no token take no time."""

import array

from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t

from opensearch_winnow.cython_core.arrays cimport kind, page_numbers

from opensearch_winnow.cython_core.sorted_postings import sorted_postings

cdef array.array NUMBERS = array.array("I")
cdef array.array DOUBLES = array.array("d")


cdef class SharedTokens:
    """Counts the tokens that each of many sets shares with each set after it.

    `tokens` are the tokens of all sets, one set after another ('Q'), and `counts` their numbers ('I'). With `weights`
    ('d'), a token that n sets have weighs weights[n]; otherwise it weighs 1. With `groups` ('I'), the number of the
    group of each set, the sets of a group count as one in n. An instance must not be used by two threads at once.
    """

    cdef readonly Py_ssize_t sets
    cdef array.array pages  # the sets of the postings, in the order of tokens
    cdef array.array weights
    cdef array.array starts  # the first posting of each set in the next three, and the end of the last
    cdef array.array places  # of the postings of a set in `pages`
    cdef array.array ends  # of the postings of the same token
    cdef array.array frequencies  # the number of sets, or groups of sets, that have the token
    cdef array.array shared, shared_weights  # with each set: 0 between two calls

    def __cinit__(self, tokens, counts, weights=None, groups=None):
        cdef const uint64_t[::1] token
        cdef const uint32_t[::1] page
        cdef Py_ssize_t i, j, k, n, at, sets = page_numbers(counts, "SharedTokens").shape[0]
        cdef array.array numbers = array.clone(NUMBERS, sets, zero=False)
        for i in range(sets):
            numbers.data.as_uints[i] = <uint32_t>i
        sorted_tokens, self.pages = sorted_postings(tokens, counts, numbers)
        token = sorted_tokens
        page = self.pages
        n = token.shape[0]
        if n >= (<Py_ssize_t>1 << 32):
            raise ValueError(f"SharedTokens() expects fewer than 2^32 tokens, got {n}")
        self.sets = sets
        self.weights = _weights(weights, sets)
        self.places = array.clone(NUMBERS, n, zero=False)
        self.ends = array.clone(NUMBERS, n, zero=False)
        self.frequencies = array.clone(NUMBERS, n, zero=False)
        self.starts = array.clone(NUMBERS, sets + 2, zero=True)
        # One more than needed: an array of nothing has no address to fill with zeros.
        self.shared = array.clone(NUMBERS, sets + 1, zero=True)
        self.shared_weights = array.clone(DOUBLES, sets + 1, zero=True)
        cdef uint32_t* start = self.starts.data.as_uints
        cdef uint32_t* places = self.places.data.as_uints
        cdef uint32_t* ends = self.ends.data.as_uints
        cdef uint32_t* frequencies = self.frequencies.data.as_uints
        cdef array.array group_numbers = _groups(groups, numbers)
        cdef array.array last_seen = array.clone(NUMBERS, sets + 1, zero=True)  # of each group, behind its token
        cdef const uint32_t* group = group_numbers.data.as_uints
        cdef uint32_t* last = last_seen.data.as_uints
        cdef uint32_t frequency
        with nogil:
            # start[a + 1] is where the next posting of set a goes, and so becomes the start of the set after it.
            for i in range(n):
                start[page[i] + 2] += 1
            for i in range(2, sets + 2):
                start[i] += start[i - 1]
            i = 0
            while i < n:
                j = i
                frequency = 0
                while j < n and token[j] == token[i]:
                    frequency += last[group[page[j]]] <= i
                    last[group[page[j]]] = <uint32_t>(j + 1)
                    j += 1
                for k in range(i, j):
                    at = start[page[k] + 1]
                    start[page[k] + 1] += 1
                    places[at] = <uint32_t>k
                    ends[at] = <uint32_t>j
                    frequencies[at] = frequency
                i = j

    def weight(self, Py_ssize_t number) -> float:
        """Return the weight of all tokens of a set."""
        self._check(number)
        cdef const double* weights = self.weights.data.as_doubles
        cdef Py_ssize_t i
        cdef double total = 0.0
        for i in range(self.starts.data.as_uints[number], self.starts.data.as_uints[number + 1]):
            total += weights[self.frequencies.data.as_uints[i]]
        return total

    def after(self, Py_ssize_t number) -> tuple[array.array, array.array, array.array]:
        """Return the later sets that share a token with a set, in order, the tokens shared, and the weight of these.

        Their typecodes are 'I', 'I' and 'd'.
        """
        self._check(number)
        cdef const uint32_t* page = self.pages.data.as_uints
        cdef const double* weights = self.weights.data.as_doubles
        cdef const uint32_t* starts = self.starts.data.as_uints
        cdef uint32_t* shared = self.shared.data.as_uints
        cdef double* shared_weights = self.shared_weights.data.as_doubles
        cdef Py_ssize_t i, j, found = 0
        cdef double weight
        with nogil:
            for i in range(starts[number], starts[number + 1]):
                weight = weights[self.frequencies.data.as_uints[i]]
                for j in range(self.places.data.as_uints[i] + 1, self.ends.data.as_uints[i]):
                    found += shared[page[j]] == 0
                    shared[page[j]] += 1
                    shared_weights[page[j]] += weight
        cdef array.array partners = array.clone(NUMBERS, found, zero=False)
        cdef array.array counts = array.clone(NUMBERS, found, zero=False)
        cdef array.array sums = array.clone(DOUBLES, found, zero=False)
        i = 0
        with nogil:
            for j in range(number + 1, self.sets):
                if shared[j]:
                    partners.data.as_uints[i] = <uint32_t>j
                    counts.data.as_uints[i] = shared[j]
                    sums.data.as_doubles[i] = shared_weights[j]
                    i += 1
                    shared[j] = 0
                    shared_weights[j] = 0.0
        return partners, counts, sums

    cdef int _check(self, Py_ssize_t number) except -1:
        if not 0 <= number < self.sets:
            raise ValueError(f"{number} is not one of the {self.sets} sets")
        return 0


cdef array.array _weights(object weights, Py_ssize_t sets):
    if weights is None:
        return array.array("d", [1.0]) * (sets + 1)
    if getattr(weights, "typecode", None) != "d" or len(weights) <= sets:
        raise ValueError(f"SharedTokens() expects an array of {sets + 1} weights (typecode 'd'), got {kind(weights)}")
    return weights


cdef array.array _groups(object groups, array.array numbers):
    if groups is None:
        return numbers
    if getattr(groups, "typecode", None) != "I" or len(groups) != len(numbers):
        raise ValueError(f"SharedTokens() expects an array of {len(numbers)} groups (typecode 'I'), got {kind(groups)}")
    if any(group >= len(numbers) for group in groups):
        raise ValueError(f"SharedTokens() expects groups below {len(numbers)}, the number of sets")
    return groups
