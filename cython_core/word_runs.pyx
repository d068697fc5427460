"""Runs of words that a text shares with indexed texts, found by a hash table of every window of `width` words."""

import array

cimport cython
from cpython cimport array
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from opensearch_winnow.cython_core.canonical_text cimport CanonicalText
from opensearch_winnow.cython_core.hashing cimport mix, power, radix
from opensearch_winnow.cython_core.shingles cimport Numbers, Words, numbers_of, words_of, write_shingles

cdef enum:
    # Occurrences of one window that are kept. Rows of zeros occur at thousands of positions; to compare a text with all
    # of them would take seconds and be useless.
    MAX_OCCURRENCES = 1000

cdef uint64_t BETWEEN_TEXTS = 0  # not the hash of a word: these are odd
cdef uint32_t NOT_KEPT = UINT32_MAX
cdef uint64_t BASE = radix(0)

cdef struct Table:
    # An open-addressing hash table. A slot has 32 bits of the hash of a window, and the first position where it occurs.
    uint64_t* slots
    uint64_t mask
    Py_ssize_t width
    Py_ssize_t windows

cdef struct Chain:
    # While tables are built: the last position of a window that was kept, and the number kept; by its first position.
    uint32_t last, count

cdef struct Run:
    Py_ssize_t start, end, place

cdef struct Runs:
    Run* all
    Py_ssize_t count, capacity


@cython.final
cdef class WordRuns:
    """Finds the runs of at least `width` words that a text shares with `texts`, and the short texts that it contains.

    A text of fewer than `width` words, but at least `shortest` (by default none), is found as a whole. A window of
    `width` words, or such a text, that occurs more than 1,000 times in `texts` is compared at its first 1,000 positions
    only: each shared part of a text is found, but not at all its positions in `texts`. Words are equal if 63 bits of
    their hashes are.

    Takes up to 2**32 - 2 words, and 30 to 45 bytes for each.
    """

    cdef readonly Py_ssize_t width, shortest
    cdef uint64_t* words  # hashes of the words of all texts, BETWEEN_TEXTS around each
    cdef uint32_t* following  # for each position the next that has an equal window, or 0; NOT_KEPT if not in a table
    cdef array.array starts  # 'I': where each text starts in `words`
    cdef Table whole  # every window of a text of at least `width` words
    cdef Table beginnings, shorter  # the first `shortest` words of each shorter text, without chains; all its words
    cdef Py_ssize_t longest_shorter

    def __cinit__(self, texts, Py_ssize_t width, shortest=None):
        self.width = width
        self.shortest = width if shortest is None else shortest
        if not 1 <= self.shortest <= width:
            raise ValueError(
                f"WordRuns() expects 1 <= shortest <= width, got shortest {self.shortest} and width {width}")
        self.starts = array.array("I")
        cdef Py_ssize_t size = 1, capacity = 1024
        cdef uint64_t* larger
        cdef Words words
        self.words = <uint64_t*>PyMem_RawMalloc(capacity * sizeof(uint64_t))
        if self.words is NULL:
            raise MemoryError("no memory for the words of the texts")
        self.words[0] = BETWEEN_TEXTS
        for text in texts:
            if not isinstance(text, CanonicalText):
                raise TypeError(f"WordRuns() expects texts that are CanonicalText, got {type(text).__name__}")
            words = words_of(text)
            if size + words.count + 1 >= UINT32_MAX:
                raise ValueError(f"WordRuns() takes at most {UINT32_MAX - 1} words, and these texts have more")
            if size + words.count + 1 > capacity:
                capacity = 2 * (size + words.count + 1)
                larger = <uint64_t*>PyMem_RawRealloc(self.words, capacity * sizeof(uint64_t))
                if larger is NULL:
                    raise MemoryError(f"no memory for {capacity} words")
                self.words = larger
            self.starts.append(size)
            with nogil:
                hash_words(&words, self.words + size)
            size += words.count
            self.words[size] = BETWEEN_TEXTS
            size += 1
        self._build(size)

    def __dealloc__(self):
        PyMem_RawFree(self.words)
        PyMem_RawFree(self.following)
        PyMem_RawFree(self.whole.slots)
        PyMem_RawFree(self.beginnings.slots)
        PyMem_RawFree(self.shorter.slots)

    cdef int _build(self, Py_ssize_t size) except -1:
        """Put all windows into the tables."""
        cdef Py_ssize_t i, texts = len(self.starts)
        cdef const uint32_t* starts = <const uint32_t*>self.starts.data.as_uints
        cdef Chain* chains = NULL
        self.whole.width = self.width
        self.beginnings.width = self.shortest
        for i in range(texts):
            self._count_windows((starts[i + 1] if i + 1 < texts else size) - starts[i] - 1)
        self.following = <uint32_t*>PyMem_RawMalloc(size * sizeof(uint32_t))
        chains = <Chain*>PyMem_RawMalloc(size * sizeof(Chain))
        try:
            if self.following is NULL or chains is NULL or not self._open_tables():
                raise MemoryError(f"no memory for the windows of {size} words")
            with nogil:
                for i in range(size):
                    self.following[i] = NOT_KEPT
                for i in range(texts):
                    self._add_windows(starts[i], (starts[i + 1] if i + 1 < texts else size) - starts[i] - 1, chains)
        finally:
            PyMem_RawFree(chains)
        return 0

    cdef void _count_windows(self, Py_ssize_t count) noexcept:
        if count >= self.width:
            self.whole.windows += count - self.width + 1
        elif count >= self.shortest:
            self.beginnings.windows += 1
            self.shorter.windows += 1
            self.longest_shorter = max(self.longest_shorter, count)

    cdef bint _open_tables(self) noexcept:
        return open_table(&self.whole) and open_table(&self.beginnings) and open_table(&self.shorter)

    cdef void _add_windows(self, Py_ssize_t start, Py_ssize_t count, Chain* chains) noexcept nogil:
        if count >= self.width:
            add_windows(&self.whole, self.width, self.words, start, count, self.following, chains)
        elif count >= self.shortest:
            add_beginning(&self.beginnings, self.words, start)
            add_windows(&self.shorter, count, self.words, start, count, self.following, chains)

    def find(self, canonical) -> list:
        """Return the shared runs as (start, end, text, other_start), sorted; all but `text` count words.

        `text` is the number of the text, from 0. Each run is as long as it can be.
        """
        if not isinstance(canonical, CanonicalText):
            raise TypeError(f"find() expects a CanonicalText, got {type(canonical).__name__}")
        cdef Words words = words_of(canonical)
        cdef Runs runs = Runs(NULL, 0, 0)
        cdef uint64_t* hashes = NULL
        cdef Py_ssize_t i, text
        cdef list found = []
        if words.count < self.shortest:
            return found
        hashes = <uint64_t*>PyMem_RawMalloc(words.count * sizeof(uint64_t))
        try:
            if hashes is NULL:
                raise MemoryError(f"no memory for {words.count} words")
            with nogil:
                hash_words(&words, hashes)
                find_runs(&self.whole, self.words, self.following, hashes, words.count, &runs)
                find_shorter(
                    &self.beginnings, &self.shorter, self.longest_shorter, self.words, self.following, hashes,
                    words.count, &runs,
                )
            for i in range(runs.count):
                text = text_at(self.starts, runs.all[i].place)
                found.append((
                    runs.all[i].start, runs.all[i].end, text,
                    runs.all[i].place - <Py_ssize_t>(<uint32_t>self.starts.data.as_uints[text]),
                ))
            if found:
                found.sort()
            return found
        finally:
            PyMem_RawFree(hashes)
            PyMem_RawFree(runs.all)


cdef void hash_words(const Words* words, uint64_t* target) noexcept nogil:
    cdef Py_ssize_t i
    cdef Numbers own
    write_shingles(words, 1, numbers_of(0, &own), target)
    for i in range(words.count):
        target[i] |= 1


cdef Py_ssize_t text_at(array.array starts, Py_ssize_t place) noexcept:
    """Return the last text that starts at or before `place`."""
    cdef const uint32_t* start = <const uint32_t*>starts.data.as_uints
    cdef Py_ssize_t low = 0, high = len(starts), middle
    while high - low > 1:
        middle = (low + high) // 2
        if <Py_ssize_t>start[middle] <= place:
            low = middle
        else:
            high = middle
    return low


cdef bint open_table(Table* table) noexcept:
    cdef uint64_t size = 2
    while size < 2 * <uint64_t>table.windows:  # at most half full: most windows of a text end at an empty slot
        size *= 2
    table.mask = size - 1
    table.slots = <uint64_t*>PyMem_RawCalloc(size, sizeof(uint64_t))
    return table.slots is not NULL


cdef inline uint64_t* slot_of(const Table* table, uint64_t hash) noexcept nogil:
    """Return the slot of a window, or the empty one where it belongs."""
    cdef uint64_t i = hash & table.mask
    while table.slots[i] and (table.slots[i] ^ hash) >> 32:
        i = (i + 1) & table.mask
    return table.slots + i


cdef void add_windows(
    const Table* table,
    Py_ssize_t width,
    const uint64_t* words,
    Py_ssize_t start,
    Py_ssize_t count,
    uint32_t* following,
    Chain* chains,
) noexcept nogil:
    """Add the windows of `width` words in `count` words from `start` on."""
    cdef uint64_t hash = 0, base_words = power(BASE, width)
    cdef uint64_t* slot
    cdef Py_ssize_t end
    cdef uint32_t place, first
    for end in range(start, start + count):
        hash = hash * BASE + words[end]
        if end - start >= width:
            hash -= words[end - width] * base_words
        if end - start < width - 1:
            continue
        place = <uint32_t>(end - width + 1)
        slot = slot_of(table, mix(hash))
        if slot[0] == 0:
            slot[0] = (mix(hash) >> 32 << 32) | place
            chains[place] = Chain(place, 1)
            following[place] = 0
            continue
        first = <uint32_t>slot[0]
        if chains[first].count < MAX_OCCURRENCES:
            following[chains[first].last] = place
            following[place] = 0
            chains[first] = Chain(place, chains[first].count + 1)


cdef void add_beginning(const Table* table, const uint64_t* words, Py_ssize_t start) noexcept nogil:
    """Add the first words of the text at `start`, without a chain: only their existence matters."""
    cdef uint64_t hash = 0
    cdef uint64_t* slot
    cdef Py_ssize_t i
    for i in range(start, start + table.width):
        hash = hash * BASE + words[i]
    slot = slot_of(table, mix(hash))
    if slot[0] == 0:
        slot[0] = (mix(hash) >> 32 << 32) | <uint32_t>start


cdef int find_runs(
    const Table* table,
    const uint64_t* words,
    const uint32_t* following,
    const uint64_t* text,
    Py_ssize_t count,
    Runs* runs,
) except -1 nogil:
    """Add to `runs` the runs that a text of `count` words shares with longer texts."""
    cdef uint64_t hash = 0, base_words = power(BASE, table.width)
    cdef Py_ssize_t end, start, before, length
    cdef uint32_t place
    if table.windows == 0:
        return 0
    for end in range(count):
        hash = hash * BASE + text[end]
        if end >= table.width:
            hash -= text[end - table.width] * base_words
        if end < table.width - 1:
            continue
        start = end - table.width + 1
        place = <uint32_t>slot_of(table, mix(hash))[0]
        while place:
            before = words_before(words, following, text, start, place)
            if before >= 0:
                length = 0
                while start + length < count and text[start + length] == words[place + length]:
                    length += 1
                if length >= table.width:
                    add_run(runs, Run(start - before, start + length, place - before))
            place = following[place]
    return 0


cdef int find_shorter(
    const Table* beginnings,
    const Table* table,
    Py_ssize_t longest,
    const uint64_t* words,
    const uint32_t* following,
    const uint64_t* text,
    Py_ssize_t count,
    Runs* runs,
) except -1 nogil:
    """Add to `runs` the shorter texts that a text of `count` words contains as a whole.

    They are looked up by all their words, because thousands of texts may begin with the same words.
    """
    cdef uint64_t hash = 0, whole, base_words = power(BASE, beginnings.width)
    cdef Py_ssize_t end, start, length
    cdef uint32_t place
    if table.windows == 0:
        return 0
    for end in range(count):
        hash = hash * BASE + text[end]
        if end >= beginnings.width:
            hash -= text[end - beginnings.width] * base_words
        start = end - beginnings.width + 1
        if start < 0 or slot_of(beginnings, mix(hash))[0] == 0:
            continue
        whole = hash
        for length in range(beginnings.width, min(longest, count - start) + 1):
            if length > beginnings.width:
                whole = whole * BASE + text[start + length - 1]
            place = <uint32_t>slot_of(table, mix(whole))[0]
            while place:
                if has_words(words + place, text + start, length):
                    add_run(runs, Run(start, start + length, place))
                place = following[place]
    return 0


cdef inline bint has_words(const uint64_t* words, const uint64_t* text, Py_ssize_t length) noexcept nogil:
    """Return whether an indexed text has exactly these words."""
    cdef Py_ssize_t i
    for i in range(length):
        if words[i] != text[i]:
            return False
    return words[length] == BETWEEN_TEXTS


cdef inline Py_ssize_t words_before(
    const uint64_t* words, const uint32_t* following, const uint64_t* text, Py_ssize_t start, Py_ssize_t place
) noexcept nogil:
    """Count the equal words before two equal windows; -1 if an earlier window has led to the same run."""
    cdef Py_ssize_t before = 0
    while before < start and text[start - before - 1] == words[place - before - 1]:
        before += 1
        if following[place - before] != NOT_KEPT:
            return -1
    return before


cdef int add_run(Runs* runs, Run run) except -1 nogil:
    cdef Run* larger
    if runs.count == runs.capacity:
        runs.capacity = 2 * runs.capacity + 16
        larger = <Run*>PyMem_RawRealloc(runs.all, runs.capacity * sizeof(Run))
        if larger is NULL:
            with gil:
                raise MemoryError(f"no memory for {runs.capacity} runs")
        runs.all = larger
    runs.all[runs.count] = run
    runs.count += 1
    return 0
