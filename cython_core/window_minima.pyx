"""Sliding window minima for every selection: each window of w keys picks its smallest, in linear time for every input.

Three algorithms find the same picks. `slide` finds the minima of short windows with vectors. `hop` goes from pick to
pick: it looks for the next smaller key and searches a whole window only when its pick has left it, like figure 5 of the
winnowing paper. `halve` takes the same time for all keys, more than the others on ordinary text; it takes over where
the others would be quadratic.
"""

import array

from cpython cimport array
from libc.stdint cimport UINT64_MAX, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove

from opensearch_winnow.cython_core.kgram_hashes cimport HASH_BITS, OTHER, key_of
from opensearch_winnow.cython_core.vectors cimport avx2


cdef extern from "window_minima.h":
    void record(Windows*, Py_ssize_t window, Py_ssize_t pick) nogil
    void slide_avx2(Windows*) nogil
    void hop_avx2(Windows*, Py_ssize_t searches) nogil

# In ordinary text `hop` searches about as many keys for new picks as there are keys. A block where it would search this
# many times as many has rising hashes, by chance or by design, and goes to `halve`.
cdef enum:
    MAX_SEARCH_RATIO = 4


cdef int allocate(Windows* windows, Py_ssize_t capacity, Py_ssize_t w, bint robust) except -1:
    """Allocate space for `capacity` keys, with no window decided; release() frees it."""
    cdef Py_ssize_t roomy = capacity + 2 * MARGIN
    windows.memory = calloc(roomy, 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t))
    if windows.memory is NULL:
        raise MemoryError(f"no memory for {capacity} keys of {w}-key windows")
    windows.keys = <uint64_t*>windows.memory + MARGIN
    windows.scratch = windows.keys + roomy
    windows.picks = <uint32_t*>(<uint64_t*>windows.memory + 2 * roomy)
    windows.firsts = windows.picks + roomy
    windows.w = w
    windows.robust = robust
    windows.n = windows.next = windows.count = 0
    windows.pick = -1
    return 0


cdef void release(Windows* windows) noexcept nogil:
    free(windows.memory)


cdef inline Py_ssize_t rightmost_minimum(const uint64_t* keys, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t i, best = end - 1
    for i in range(end - 2, start - 1, -1):
        if keys[i] < keys[best]:
            best = i
    return best


cdef inline Py_ssize_t first_below(
    const uint64_t* keys, Py_ssize_t start, Py_ssize_t end, uint64_t bound
) noexcept nogil:
    while start < end and keys[start] >= bound:
        start += 1
    return start


cdef void hop(Windows* windows, Py_ssize_t searches) noexcept nogil:
    """Decide the windows from `next` on, with at most `searches` searches of a whole window."""
    cdef:
        Py_ssize_t w = windows.w, last = windows.n - w, stop, found
        uint64_t* keys = windows.keys
    while windows.next <= last and searches:
        if windows.pick < windows.next:
            searches -= 1
            record(windows, windows.next, rightmost_minimum(keys, windows.next, windows.next + w))
            continue
        stop = min(windows.pick, last)      # windows up to here hold the pick; only a smaller key replaces it
        found = first_below(keys, windows.next + w - 1, stop + w, keys[windows.pick] + (not windows.robust))
        if found < stop + w:
            record(windows, found - w + 1, found)
        else:
            windows.next = stop + 1


cdef void halve(Windows* windows) noexcept nogil:
    """Decide all windows in constant time per key, whatever the keys are.

    The keys are cut every w: each window is the end of one piece and the beginning of the next. The minima of the ends
    are found from the cut to the left, those of the beginnings from the cut to the right. No branch depends on the keys
    until a pick changes.
    """
    cdef:
        Py_ssize_t w = windows.w, after = windows.n - w + 1, first = windows.next, cut, window, place, smallest
        uint64_t* keys = windows.keys
        uint64_t least
        Py_ssize_t* end_minima = <Py_ssize_t*>windows.scratch  # index of the minimum from each key to the cut
    while first < after:
        cut = first + w - 1
        place = end_minima[cut] = cut
        least = keys[cut]
        for window in range(cut - 1, first - 1, -1):
            place = window if keys[window] < least else place
            least = min(keys[window], least)
            end_minima[window] = place
        place = cut
        least = keys[cut]
        for window in range(first, min(first + w, after)):
            place = window + w - 1 if keys[window + w - 1] <= least else place
            least = min(keys[window + w - 1], least)
            smallest = place if least <= keys[end_minima[window]] else end_minima[window]
            if windows.pick < window or keys[smallest] < keys[windows.pick] + (not windows.robust):
                if windows.pick != smallest:
                    record(windows, window, smallest)
        first += w
    windows.next = after


cdef void decide(Windows* windows) noexcept nogil:
    """Decide all complete windows, and add the picks to `picks`, `firsts` and `count`."""
    cdef Py_ssize_t searches = MAX_SEARCH_RATIO * (windows.n // windows.w + 1)
    if windows.n < windows.w:
        return
    if avx2 and windows.w < SHORT_WINDOW:
        if windows.pick < 0:
            record(windows, 0, rightmost_minimum(windows.keys, 0, windows.w))
        slide_avx2(windows)
    elif avx2:
        hop_avx2(windows, searches)
    else:
        hop(windows, searches)
    if windows.next <= windows.n - windows.w:
        halve(windows)


cdef bint decide_among(Windows* windows, const uint32_t* places, Py_ssize_t count) noexcept nogil:
    """Decide all complete windows like decide(), but look only at the keys at `places`, which are in order.

    Every window must hold one of them, and all other keys must be larger. Return False, with some windows undecided, if
    it would take quadratic time.
    """
    cdef:
        Py_ssize_t w = windows.w, n = windows.n, first = 0, i, best, left
        Py_ssize_t searches = MAX_SEARCH_RATIO * (n // w + 1)
        uint64_t* keys = windows.keys
        uint64_t bound, least
    while first < count and places[first] <= windows.pick:
        first += 1
    while searches:
        left = windows.pick + w             # the window that ends here is the first without the pick
        bound = keys[windows.pick] + (not windows.robust) if windows.pick >= 0 else 0
        least = UINT64_MAX
        i = best = first
        while i < count and places[i] < min(left, n) and keys[places[i]] >= bound:
            if keys[places[i]] <= least:
                least = keys[places[i]]
                best = i
            i += 1
        if i < count and places[i] < min(left, n):
            best = i                        # it replaces the pick when it enters
            left = places[i]
        elif left >= n:
            windows.next = n - w + 1
            return True
        else:
            searches -= 1
            if i < count and places[i] == left and keys[places[i]] <= least:
                best = i
        record(windows, left - w + 1, places[best])
        first = best + 1
    return False


cdef Py_ssize_t shift(Windows* windows) noexcept nogil:
    """Move the last window to the front, to continue with more keys after it; return by how many keys."""
    cdef Py_ssize_t gone = windows.n - windows.w
    windows.count = 0
    memmove(windows.keys, windows.keys + gone, windows.w * sizeof(uint64_t))
    windows.n -= gone
    windows.next -= gone
    windows.pick -= gone
    return gone


def window_minima(const uint64_t[::1] hashes not None, Py_ssize_t w, *, bint robust=True):
    """Return the positions ('I') that winnowing picks from `hashes`, each below 2**61; none if there are fewer than w.

    Of equal hashes in a window the rightmost is picked; with `robust`, the one that the window before has picked.
    """
    cdef Py_ssize_t i, n = hashes.shape[0]
    cdef Windows windows
    cdef array.array positions
    if w < 1:
        raise ValueError(f"w must be at least 1 hash, not {w}")
    allocate(&windows, n, w, robust)
    try:
        for i in range(n):
            if hashes[i] >> HASH_BITS:
                raise ValueError(f"hash {hashes[i]} at position {i} is not below 2**{HASH_BITS}")
            windows.keys[i] = key_of(hashes[i], OTHER)
        windows.n = n
        with nogil:
            decide(&windows)
        positions = array.clone(array.array("I"), windows.count, zero=False)
        for i in range(windows.count):
            positions.data.as_uints[i] = windows.picks[i]
        return positions
    finally:
        release(&windows)
