"""Passages: runs that two canonical texts share, found by fingerprints and verified character by character."""

from cpython cimport array
from cpython.mem cimport PyMem_Free
from cpython.unicode cimport PyUnicode_AsUCS4Copy, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc

from opensearch_winnow.cython_core.fingerprints import fingerprints

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    # A k-gram that occurs m times in one text and n times in the other makes m * n pairs. Up to this many are all
    # compared; beyond it, the i-th occurrence is compared with the i-th only.
    MAX_PAIRS_PER_HASH = 4096


cdef struct Print:
    uint64_t hash
    uint32_t index              # in the list of fingerprints of its text


cdef struct Side:
    # One of the two texts.
    const void* chars
    int width                   # bytes per character, the same in both texts
    Py_ssize_t length
    const uint32_t* positions   # of its fingerprints
    Py_ssize_t count
    const Print* by_hash        # the fingerprints, sorted
    uint8_t* covered            # for each fingerprint, whether a reported run holds its k-gram


cdef struct Seed:
    # Two equal fingerprints, one of each text.
    int64_t diagonal            # position in the other text minus position in this one
    uint32_t index, other


cdef struct Seeds:
    Seed* all
    Py_ssize_t count, capacity


cdef struct Run:
    Py_ssize_t start, other, length


cdef int by_hash(const void* a, const void* b) noexcept nogil:
    cdef const Print* left = <const Print*>a
    cdef const Print* right = <const Print*>b
    if left.hash != right.hash:
        return 1 if left.hash > right.hash else -1
    return 1 if left.index > right.index else -1


cdef int by_diagonal(const void* a, const void* b) noexcept nogil:
    cdef const Seed* left = <const Seed*>a
    cdef const Seed* right = <const Seed*>b
    if left.diagonal != right.diagonal:
        return 1 if left.diagonal > right.diagonal else -1
    return 1 if left.index > right.index else -1


cdef int longest_first(const void* a, const void* b) noexcept nogil:
    cdef const Run* left = <const Run*>a
    cdef const Run* right = <const Run*>b
    if left.length != right.length:
        return 1 if left.length < right.length else -1
    if left.start != right.start:
        return 1 if left.start > right.start else -1
    return 1 if left.other > right.other else -1


cdef int add(Seeds* seeds, const Side* a, const Side* b, uint32_t index, uint32_t other) except -1 nogil:
    cdef Seed* larger
    if seeds.count == seeds.capacity:
        seeds.capacity = 2 * seeds.capacity + 64
        larger = <Seed*>realloc(seeds.all, seeds.capacity * sizeof(Seed))
        if larger is NULL:
            with gil:
                raise MemoryError(f"no memory for {seeds.capacity} matching fingerprints")
        seeds.all = larger
    seeds.all[seeds.count] = Seed(<int64_t>b.positions[other] - <int64_t>a.positions[index], index, other)
    seeds.count += 1
    return 0


cdef Py_ssize_t seek(const Side* side, Py_ssize_t low, uint64_t hash) noexcept nogil:
    """Return the first index from `low` on whose hash is not below `hash`: doubling steps, then binary search.

    So merging a long text with a short one costs little more than merging two short ones: a question has many
    candidates.
    """
    cdef Py_ssize_t high = low, step = 1, middle
    while high < side.count and side.by_hash[high].hash < hash:
        low = high + 1
        high += step
        step *= 2
    high = min(high, side.count)
    while low < high:
        middle = low + (high - low) // 2
        if side.by_hash[middle].hash < hash:
            low = middle + 1
        else:
            high = middle
    return low


cdef int match(const Side* a, const Side* b, Seeds* rare, Seeds* frequent) except -1 nogil:
    """Pair equal fingerprints: all pairs of a rare hash go into `rare`.

    For a frequent hash, the i-th occurrences in both texts are paired; if one text has more, the rest is paired with
    the first of the other, because a run from there to the right covers many of the next. These go into `frequent`.
    """
    cdef Py_ssize_t i = 0, j = 0, i_end, j_end, m, n, x, y
    while i < a.count and j < b.count:
        if a.by_hash[i].hash < b.by_hash[j].hash:
            i = seek(a, i, b.by_hash[j].hash)
            continue
        if a.by_hash[i].hash > b.by_hash[j].hash:
            j = seek(b, j, a.by_hash[i].hash)
            continue
        i_end = i
        while i_end < a.count and a.by_hash[i_end].hash == a.by_hash[i].hash:
            i_end += 1
        j_end = j
        while j_end < b.count and b.by_hash[j_end].hash == b.by_hash[j].hash:
            j_end += 1
        m = i_end - i
        n = j_end - j
        if m <= MAX_PAIRS_PER_HASH // n:
            for x in range(i, i_end):
                for y in range(j, j_end):
                    add(rare, a, b, a.by_hash[x].index, b.by_hash[y].index)
        else:
            for x in range(max(m, n)):
                add(frequent, a, b, a.by_hash[i + (x if x < m else 0)].index, b.by_hash[j + (x if x < n else 0)].index)
        i = i_end
        j = j_end
    return 0


cdef Run extend_chars(
    const Char* a, Py_ssize_t m, const Char* b, Py_ssize_t n, Py_ssize_t x, Py_ssize_t y
) noexcept nogil:
    cdef Py_ssize_t before = 0, after = 0
    while x + after < m and y + after < n and a[x + after] == b[y + after]:
        after += 1
    while before < x and before < y and a[x - before - 1] == b[y - before - 1]:
        before += 1
    return Run(x - before, y - before, before + after)


cdef Run extend(const Side* a, const Side* b, Seed seed) noexcept nogil:
    """Return the longest run of equal characters around `seed`; shorter than k if only the hashes are equal."""
    cdef Py_ssize_t x = a.positions[seed.index], y = b.positions[seed.other]
    if a.width == 1:
        return extend_chars(<const uint8_t*>a.chars, a.length, <const uint8_t*>b.chars, b.length, x, y)
    if a.width == 2:
        return extend_chars(<const uint16_t*>a.chars, a.length, <const uint16_t*>b.chars, b.length, x, y)
    return extend_chars(<const uint32_t*>a.chars, a.length, <const uint32_t*>b.chars, b.length, x, y)


cdef bint cover(Side* side, Py_ssize_t start, Py_ssize_t end, Py_ssize_t k) noexcept nogil:
    """Mark the fingerprints whose k-gram lies in [start, end); return whether one of them was not marked yet."""
    cdef Py_ssize_t low = 0, high = side.count, middle
    cdef bint fresh = False
    while low < high:
        middle = (low + high) // 2
        if <Py_ssize_t>side.positions[middle] < start:
            low = middle + 1
        else:
            high = middle
    while low < side.count and <Py_ssize_t>side.positions[low] + k <= end:
        fresh |= not side.covered[low]
        side.covered[low] = True
        low += 1
    return fresh


cdef bint covers_more(Side* a, Side* b, Run run, Py_ssize_t k) noexcept nogil:
    cdef bint fresh = cover(a, run.start, run.start + run.length, k)
    return cover(b, run.other, run.other + run.length, k) or fresh


cdef Py_ssize_t find_runs(Side* a, Side* b, Py_ssize_t k, Seeds* rare, Seeds* frequent, Run* runs) noexcept nogil:
    """Collect the runs to report, longest first: each covers a fingerprint of either text that no run before covers."""
    cdef Py_ssize_t i, found = 0, reported = 0, end = 0
    cdef Run run
    if rare.count:
        qsort(rare.all, rare.count, sizeof(Seed), by_diagonal)
    for i in range(rare.count):
        if i == 0 or rare.all[i].diagonal != rare.all[i - 1].diagonal:
            end = 0
        if <Py_ssize_t>a.positions[rare.all[i].index] + k > end:
            run = extend(a, b, rare.all[i])
            if run.length >= k:
                end = run.start + run.length
                runs[found] = run
                found += 1
    qsort(runs, found, sizeof(Run), longest_first)
    for i in range(found):
        if covers_more(a, b, runs[i], k):
            runs[reported] = runs[i]
            reported += 1
    for i in range(frequent.count):
        if not (a.covered[frequent.all[i].index] and b.covered[frequent.all[i].other]):
            run = extend(a, b, frequent.all[i])
            if run.length >= k and covers_more(a, b, run, k):
                runs[reported] = run
                reported += 1
    return reported


cdef class _SelectedPrints:
    """The fingerprints of a text for one window, sorted by hash."""

    cdef readonly Py_ssize_t window
    cdef array.array positions
    cdef Print* by_hash

    def __cinit__(self, str chars, Py_ssize_t k, Py_ssize_t window, uint64_t key):
        cdef array.array hashes
        cdef Py_ssize_t i, count
        self.window = window
        # Definition 1, not robust: only the window decides, so both texts pick the same positions of a shared run.
        hashes, self.positions = fingerprints(chars, k, window, key=key, robust=False)
        count = len(hashes)
        self.by_hash = <Print*>malloc((count + 1) * sizeof(Print))
        if self.by_hash is NULL:
            raise MemoryError(f"no memory for {count} fingerprints")
        for i in range(count):
            self.by_hash[i] = Print(hashes.data.as_ulonglongs[i], <uint32_t>i)
        with nogil:
            qsort(self.by_hash, count, sizeof(Print), by_hash)

    def __dealloc__(self):
        free(self.by_hash)


cdef int open_side(Side* side, str chars, void* widened, _SelectedPrints selected) except -1:
    side.chars = PyUnicode_DATA(chars) if widened is NULL else widened
    side.width = PyUnicode_KIND(chars) if widened is NULL else 4
    side.length = len(chars)
    side.positions = <const uint32_t*>selected.positions.data.as_uints
    side.count = len(selected.positions)
    side.by_hash = selected.by_hash
    side.covered = <uint8_t*>calloc(side.count + 1, 1)
    if side.covered is NULL:
        raise MemoryError(f"no memory for {side.count} fingerprints")
    return 0


cdef class PassageFinder:
    """Finds the passages that a text shares with others; its own fingerprints are selected and sorted once."""

    cdef str chars
    cdef Py_ssize_t k, w
    cdef uint64_t key
    cdef _SelectedPrints whole, shorter  # for the window w, and for the last text that was too short for it
    cdef Py_UCS4* widened  # a copy of `chars`, once a text has come whose characters have another width

    def __cinit__(self, str chars not None, Py_ssize_t k, Py_ssize_t w, uint64_t key=0):
        self.chars = chars
        self.k = k
        self.w = w
        self.key = key

    def __dealloc__(self):
        PyMem_Free(self.widened)

    cdef _SelectedPrints selected(self, Py_ssize_t window):
        cdef _SelectedPrints kept = self.whole if window == self.w else self.shorter
        if kept is None or kept.window != window:
            kept = _SelectedPrints(self.chars, self.k, window, self.key)
            if window == self.w:
                self.whole = kept
            else:
                self.shorter = kept
        return kept

    def passages(self, str other not None):
        """Return the runs shared with the text `other`, as (start, end, other_start, other_end), in order of `start`.

        Each run is maximal and has at least k characters. Every run of t = w + k - 1 or more characters is found, and
        every run that is the whole of a shorter text. If a run occurs m times in one text and n times in the other,
        each occurrence is reported with one partner only: the one that makes the longest run (beyond 4,096 pairs, the
        one of the same rank).
        """
        cdef:
            Side a = Side(NULL, 0, 0, NULL, 0, NULL, NULL), b = a
            Seeds rare = Seeds(NULL, 0, 0), frequent = rare
            _SelectedPrints ours, theirs
            Py_UCS4* widened = NULL
            Run* runs = NULL
            Py_ssize_t i, count = 0, grams = min(len(self.chars), len(other)) - self.k + 1
            list found = []
        if grams < 1:
            return found
        ours = self.selected(min(self.w, grams))
        theirs = _SelectedPrints(other, self.k, min(self.w, grams), self.key)
        try:
            if PyUnicode_KIND(self.chars) != PyUnicode_KIND(other):
                if self.widened is NULL:
                    self.widened = PyUnicode_AsUCS4Copy(self.chars)
                widened = PyUnicode_AsUCS4Copy(other)
            open_side(&a, self.chars, NULL if widened is NULL else self.widened, ours)
            open_side(&b, other, widened, theirs)
            with nogil:
                match(&a, &b, &rare, &frequent)
                runs = <Run*>malloc((rare.count + frequent.count + 1) * sizeof(Run))
                if runs is not NULL:
                    count = find_runs(&a, &b, self.k, &rare, &frequent, runs)
            if runs is NULL:
                raise MemoryError(f"no memory for {rare.count + frequent.count} runs")
            for i in range(count):
                found.append(
                    (runs[i].start, runs[i].start + runs[i].length, runs[i].other, runs[i].other + runs[i].length))
            found.sort()
            return found
        finally:
            PyMem_Free(widened)
            free(a.covered)
            free(b.covered)
            free(rare.all)
            free(frequent.all)
            free(runs)


def passages(str a not None, str b not None, Py_ssize_t k, Py_ssize_t w, uint64_t key=0):
    """Return the runs that texts `a` and `b` share, as PassageFinder.passages() does."""
    return PassageFinder(a, k, w, key).passages(b)


def join_runs(list runs not None, Py_ssize_t gap):
    """Join runs that are at most `gap` characters apart in both texts, for display across small edits."""
    cdef list joined = []
    cdef tuple last = None
    for run in runs:
        start, end, other_start, other_end = run
        if last is not None and 0 <= start - last[1] <= gap and 0 <= other_start - last[3] <= gap:
            last = (last[0], end, last[2], other_end)
            joined[len(joined) - 1] = last
        else:
            last = run
            joined.append(last)
    return joined
