"""Fingerprints: the k-grams of a canonical text that a selection keeps, as hashes and positions.

Every selection but `mod-p` keeps at least one k-gram of each window of w consecutive ones, and chooses it by the
characters in the window. So two texts that share t = w + k - 1 characters keep a common k-gram. A text of fewer than t
but at least k characters keeps its smallest k-gram.
"""

import array

cimport cython
from cpython cimport array
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from opensearch_winnow.cython_core.hashing cimport mix
from opensearch_winnow.cython_core.kgram_hashes cimport (
    CLOSED, OPEN, OTHER, KeyClass, Roller, add_hashes, hash_fours, hash_of, key_of, roll, roller
)
from opensearch_winnow.cython_core.vectors cimport avx2
from opensearch_winnow.cython_core.window_minima cimport (
    SHORT_WINDOW, Windows, allocate, decide, decide_among, release, shift
)

cdef extern from "syncmers.h":
    Py_ssize_t find_syncmers_avx2(
        Windows* small, Py_ssize_t n, Py_ssize_t w, uint64_t open, uint64_t closed, uint32_t* places, uint64_t* keys
    ) nogil

SELECTIONS = ("winnow", "open-closed", "mod-minimizer", "mod-p")

cdef enum:
    # k-grams per block: their keys and minima fill 32 kB, a first-level cache.
    BLOCK = 2048
    # A block has at least this many times max(k, w) k-grams, so that restarting costs at most an eighth of the work.
    MIN_BLOCK_RATIO = 8
    # Characters of the small grams whose order ranks the k-grams around them. Longer ones have fewer positions in a
    # k-gram: with 4, 8 and 12 characters the open-closed order keeps 16, 15 and 13 % fewer than winnowing at k=50,
    # w=100.
    SMALL_GRAM = 4


@cython.internal
cdef class Prints:
    """The fingerprints kept so far, in arrays with spare capacity."""

    cdef array.array hashes, positions
    cdef Py_ssize_t count, capacity

    def __cinit__(self, Py_ssize_t expected):
        self.capacity = expected
        self.hashes = array.clone(array.array("Q"), expected, zero=False)
        self.positions = array.clone(array.array("I"), expected, zero=False)

    cdef int reserve(self, Py_ssize_t more) except -1 nogil:
        if self.count + more > self.capacity:
            self.capacity = 2 * self.count + more
            with gil:
                array.resize(self.hashes, self.capacity)
                array.resize(self.positions, self.capacity)
        return 0

    cdef inline void keep(self, uint64_t key, Py_ssize_t position) noexcept nogil:
        """Add a fingerprint. Its hash is mixed once more: hashes picked for being small are not uniform."""
        self.hashes.data.as_ulonglongs[self.count] = mix(hash_of(key))
        self.positions.data.as_uints[self.count] = <uint32_t>position
        self.count += 1

    cdef int keep_picks(self, const Windows* windows, Py_ssize_t base) except -1 nogil:
        """Add the picks of a block whose first k-gram is at `base`."""
        cdef Py_ssize_t i
        self.reserve(windows.count)
        for i in range(windows.count):
            self.keep(windows.keys[windows.picks[i]], base + windows.picks[i])
        return 0

    cdef tuple arrays(self):
        array.resize(self.hashes, self.count)
        array.resize(self.positions, self.count)
        return self.hashes, self.positions


cdef void decide_small(const Roller* small, Windows* inner, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Find the smallest small gram of each of `n` windows, the first at `start`."""
    inner.n = n + inner.w - 1
    inner.next = inner.count = 0
    inner.pick = -1
    roll(small, start, inner.n, OTHER, inner.keys)
    decide(inner)


cdef inline void prefer(
    Windows* inner, Py_ssize_t gram, Py_ssize_t j, Py_ssize_t n, uint64_t* keys, KeyClass key_class
) noexcept nogil:
    """Give the k-gram `gram` the class `key_class` if its smallest small gram is the j-th pick."""
    cdef Py_ssize_t end = inner.firsts[j + 1] if j + 1 < inner.count else n
    if inner.firsts[j] <= gram < end:
        keys[gram] = key_of(hash_of(keys[gram]), key_class)


cdef void order_open_closed(
    const Roller* small, Windows* inner, Py_ssize_t start, Py_ssize_t n, uint64_t* keys
) noexcept nogil:
    """Rank k-grams whose smallest small gram is in the middle first, then k-grams that have it at an end.

    Such k-grams lie farther apart than at random, so more windows share each of them.
    """
    cdef Py_ssize_t j, gram, reach = inner.w - 1
    decide_small(small, inner, start, n)
    for j in range(inner.count):
        gram = inner.picks[j]
        prefer(inner, gram, j, n, keys, CLOSED)
        prefer(inner, gram - reach, j, n, keys, CLOSED)
        prefer(inner, gram - reach // 2, j, n, keys, OPEN)


cdef int winnow(
    Prints prints, const Roller* grams, Py_ssize_t n, Windows* windows,
    const Roller* small, Windows* inner, Py_ssize_t block
) except -1 nogil:
    """Winnow `n` k-grams by their hashes or, if `small` is given, in the open-closed order."""
    cdef Py_ssize_t fresh, made = 0, base = 0
    cdef uint64_t* keys
    while made < n:
        fresh = min(block, n - made)
        keys = windows.keys + windows.n
        roll(grams, made, fresh, OTHER, keys)
        if small is not NULL:
            order_open_closed(small, inner, made, fresh, keys)
        windows.n += fresh
        made += fresh
        decide(windows)
        prints.keep_picks(windows, base)
        base += shift(windows)
    return 0


cdef struct Syncmers:
    # k-grams with their smallest small gram in the middle (open) or at an end (closed).
    uint32_t* places            # in the windows of the block
    Py_ssize_t count
    uint64_t* prefixes          # hashes of prefixes of the block: see hash_fours()


cdef int allocate_syncmers(Syncmers* syncmers, Py_ssize_t chars) except -1:
    """Allocate space for a block of `chars` characters; free(prefixes) frees it."""
    syncmers.prefixes = <uint64_t*>malloc((chars // 4 + 2) * sizeof(uint64_t) + chars * sizeof(uint32_t))
    if syncmers.prefixes is NULL:
        raise MemoryError(f"no memory for the syncmers of {chars} characters")
    syncmers.places = <uint32_t*>(syncmers.prefixes + chars // 4 + 2)
    syncmers.count = 0
    return 0


cdef bint decide_by_syncmers(
    Syncmers* syncmers, const Roller* grams, const Roller* ones, Windows* inner, Windows* windows, Py_ssize_t fresh,
    Py_ssize_t start
) noexcept nogil:
    """Decide the windows with the last `fresh` k-grams, the first of them at `start` in the text.

    Any k - SMALL_GRAM k-grams in a row have a syncmer, so the windows hold one if they are not shorter, and no other
    k-gram needs a hash. Return False, with windows undecided, if the text makes this slow.
    """
    cdef Py_ssize_t i, count, before = windows.n - fresh
    cdef uint32_t* places = syncmers.places + syncmers.count
    cdef uint64_t* keys = windows.keys + before
    inner.n = fresh + inner.w - 1
    hash_fours(ones, start, inner.n, inner.keys, syncmers.prefixes)
    count = find_syncmers_avx2(inner, fresh, windows.w, key_of(0, OPEN), key_of(0, CLOSED), places, keys)
    if count < 0:
        return False
    add_hashes(grams, start, syncmers.prefixes, places, count, keys)
    for i in range(count):
        places[i] += <uint32_t>before
    syncmers.count += count
    return decide_among(windows, syncmers.places, syncmers.count)


cdef void forget_first(Syncmers* syncmers, uint32_t gone) noexcept nogil:
    """Forget the syncmers before `gone`, and count the places of the others from there."""
    cdef Py_ssize_t i, first = syncmers.count
    while first and syncmers.places[first - 1] >= gone:
        first -= 1
    syncmers.count -= first
    for i in range(syncmers.count):
        syncmers.places[i] = syncmers.places[first + i] - gone


cdef int winnow_syncmers(
    Prints prints, const Roller* grams, Py_ssize_t n, Windows* windows,
    const Roller* small, Windows* inner, Syncmers* syncmers, const Roller* ones, Py_ssize_t block
) except -1 nogil:
    """Winnow `n` k-grams in the open-closed order, and hash only those that can be picked."""
    cdef Py_ssize_t i, fresh, gone, made = 0, base = 0
    while made < n:
        fresh = min(block, n - made)
        windows.n += fresh
        if not decide_by_syncmers(syncmers, grams, ones, inner, windows, fresh, made):
            roll(grams, base, windows.n, OTHER, windows.keys)
            order_open_closed(small, inner, base, windows.n, windows.keys)
            decide(windows)
            syncmers.count = windows.n
            for i in range(windows.n):
                syncmers.places[i] = <uint32_t>i
        made += fresh
        prints.keep_picks(windows, base)
        gone = shift(windows)
        forget_first(syncmers, <uint32_t>gone)
        base += gone
    return 0


cdef int mod_minimize(
    Prints prints, const Roller* grams, Py_ssize_t n, Windows* windows,
    const Roller* small, Windows* inner, Py_ssize_t block
) except -1 nogil:
    """Keep from each window of w k-grams the one at the position of the window's smallest small gram, mod w.

    As in robust winnowing, a window keeps the k-gram kept last if it holds that k-gram and both are equal.
    """
    cdef Py_ssize_t w = windows.w, start = 0, fresh, j, window, last, gram, kept = -1
    cdef uint64_t* keys = windows.keys
    cdef uint64_t kept_key = 0
    while start <= n - w:
        fresh = min(block, n - w + 1 - start)
        roll(grams, start, fresh + w - 1, OTHER, keys)
        decide_small(small, inner, start, fresh)
        prints.reserve(inner.count + fresh)
        for j in range(inner.count):
            last = (inner.firsts[j + 1] if j + 1 < inner.count else fresh) - 1
            window = inner.firsts[j]
            while window <= last:
                # The small gram's position in the window falls by one with each window: the k-gram stays the same until
                # it is 0 mod w.
                gram = window + (inner.picks[j] - window) % w
                if start + gram == kept or (windows.robust and keys[gram] == kept_key):
                    window = max(window, kept + 1 - start)
                if window <= min(last, gram):
                    kept = start + gram
                    kept_key = keys[gram]
                    prints.keep(kept_key, kept)
                window = gram + 1
        start += fresh
    return 0


cdef int keep_multiples(
    Prints prints, const Roller* grams, Py_ssize_t n, Windows* windows, uint64_t p, Py_ssize_t block
) except -1 nogil:
    """Keep the k-grams whose hash is 0 mod p."""
    cdef Py_ssize_t i, fresh, made = 0
    while made < n:
        fresh = min(block, n - made)
        roll(grams, made, fresh, OTHER, windows.keys)
        prints.reserve(fresh)
        for i in range(fresh):
            if mix(hash_of(windows.keys[i])) % p == 0:
                prints.keep(windows.keys[i], made + i)
        made += fresh
    return 0


def fingerprints(
    str chars not None, Py_ssize_t k, Py_ssize_t w, str selection not None="winnow", uint64_t key=0, *, bint robust=True
):
    """Return the hashes ('Q') and positions ('I') of the k-grams that `selection` keeps, in the order of the text.

    Of equal k-grams in a window, `robust` keeps the one that an earlier window kept (Definition 3 of the winnowing
    paper) instead of the rightmost (Definition 1). That keeps fewer, but not always at the same position in two copies.
    Memory: the result, and about 50 bytes times the largest of 2048, 8k and 8w.
    """
    cdef Py_ssize_t n = len(chars) - k + 1
    if k < 1 or w < 1:
        raise ValueError(f"k and w must be at least 1, not {k} and {w}")
    if selection not in SELECTIONS:
        raise ValueError(f"there is no selection {selection!r}; choose one of {', '.join(SELECTIONS)}")
    if <uint64_t>len(chars) > <uint64_t>0xFFFF_FFFF:
        raise ValueError(f"fingerprints() takes at most 2**32 - 1 characters, got {len(chars)}")
    if n < 1:
        return array.array("Q"), array.array("I")
    cdef uint64_t p = w // 2 + w % 2  # keeps as many k-grams as winnowing does on random text
    if n < w:
        w = n
        if selection != "mod-p":
            selection = "winnow"
    if k <= SMALL_GRAM and selection == "open-closed":
        selection = "winnow"  # all k-grams are small grams

    cdef:
        Prints prints = Prints(n * 5 // (2 * w + 2) + 64)  # winnowing keeps about 2 / (w + 1) of ordinary text
        Windows windows, inner
        Roller grams = roller(chars, k, key)
        Roller small, ones
        Syncmers syncmers
        bint has_small = selection == "open-closed" or selection == "mod-minimizer"
        bint by_place = selection == "mod-minimizer"
        bint by_value = selection == "mod-p"
        bint by_syncmers = False
        Py_ssize_t gram = min(SMALL_GRAM, k)
        Py_ssize_t block = min(n, max(BLOCK, MIN_BLOCK_RATIO * max(k, w)))
    windows.memory = inner.memory = syncmers.prefixes = NULL
    syncmers.count = 0
    if by_place and k > SMALL_GRAM:
        gram += (k - SMALL_GRAM) % w
    if has_small:
        small = roller(chars, gram, key)
    try:
        allocate(&windows, block + w, w, robust)
        if has_small:
            allocate(&inner, block + k + w, k - gram + (w if by_place else 1), robust=False)
        # Syncmers are found with vectors only, in k-grams that are short windows of small grams.
        by_syncmers = avx2 and has_small and not by_place and inner.w < SHORT_WINDOW and inner.w - 1 <= w
        if by_syncmers:
            ones = roller(chars, 1, key)
            allocate_syncmers(&syncmers, block + k + w)
        with nogil:
            if by_value:
                keep_multiples(prints, &grams, n, &windows, p, block)
            elif by_place:
                mod_minimize(prints, &grams, n, &windows, &small, &inner, block)
            elif by_syncmers:
                winnow_syncmers(prints, &grams, n, &windows, &small, &inner, &syncmers, &ones, block)
            else:
                winnow(prints, &grams, n, &windows, &small if has_small else NULL, &inner, block)
        return prints.arrays()
    finally:
        release(&windows)
        release(&inner)
        free(syncmers.prefixes)
