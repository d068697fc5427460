"""Shingles: hashes of every `width` consecutive words of a canonical text."""

import array

from cpython cimport array
from cpython.number cimport PyNumber_Index
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from opensearch_winnow.cython_core.canonical_text cimport CanonicalText
from opensearch_winnow.cython_core.hashing cimport char_value, mix, power, radix

cdef array.array EMPTY = array.array("Q")

cdef enum:
    BLOCK = 1024  # characters; their hashes stay in the first-level cache

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef Numbers PUBLIC  # for key 0; computed once, because that takes as long as hashing a few hundred characters
_make_numbers(&PUBLIC, 0)


def shingles(canonical, Py_ssize_t width=10, key=0) -> array.array:
    """Return the shingles of a canonical text in order, with repeats (typecode 'Q').

    A text of fewer than `width` words is one shingle of all its words, so that equal short pages resemble each other. A
    text without words has no shingles.
    """
    if not isinstance(canonical, CanonicalText):
        raise TypeError(f"shingles() expects a CanonicalText, got {type(canonical).__name__}")
    if width < 1:
        raise ValueError(f"shingles() expects a width of at least 1 word, got {width}")
    key = PyNumber_Index(key)
    if not 0 <= key < 2**64:
        raise ValueError(f"shingles() expects a key from 0 to 2**64 - 1, got {key}")
    cdef Words words = words_of(canonical)
    cdef array.array result = array.clone(EMPTY, words.count, zero=False)
    cdef uint64_t* target = <uint64_t*>result.data.as_ulonglongs
    cdef uint64_t secret = key
    cdef Numbers own
    cdef Py_ssize_t n
    with nogil:
        n = write_shingles(&words, width, numbers_of(secret, &own), target)
    array.resize(result, n)
    return result


cdef Words words_of(CanonicalText text):
    """Return the words of `text`, which must live as long as they are used."""
    return Words(
        PyUnicode_DATA(text.chars), PyUnicode_KIND(text.chars), len(text.chars),
        <const uint32_t*>text.words.data.as_uints, len(text.words),
    )


cdef const Numbers* numbers_of(uint64_t key, Numbers* own) noexcept nogil:
    """Return the numbers for `key`, which are computed in `own` unless they are the public ones."""
    if key == 0:
        return &PUBLIC
    _make_numbers(own, key)
    return own


cdef Py_ssize_t write_shingles(
    const Words* words, Py_ssize_t width, const Numbers* numbers, uint64_t* target
) noexcept nogil:
    """Write the shingles to `target`, which has room for a number per word, and return the number of shingles."""
    if words.count == 0:
        return 0
    width = min(width, words.count)
    if words.kind == 1:
        _hash_words(<const uint8_t*>words.chars, words.end, words.starts, words.count, numbers, target)
    elif words.kind == 2:
        _hash_words(<const uint16_t*>words.chars, words.end, words.starts, words.count, numbers, target)
    else:
        _hash_words(<const uint32_t*>words.chars, words.end, words.starts, words.count, numbers, target)
    _roll(target, words.count, width, numbers.base)
    return words.count - width + 1


cdef void _make_numbers(Numbers *numbers, uint64_t key) noexcept nogil:
    cdef uint32_t i
    numbers.key = key
    numbers.base = radix(key)
    for i in range(256):
        numbers.values[i] = char_value(i, key)
    numbers.powers[0] = 1
    for i in range(1, POWERS):
        numbers.powers[i] = numbers.powers[i - 1] * numbers.base


cdef inline uint64_t _value(const Char *char, const Numbers *numbers) noexcept nogil:
    if Char is uint8_t:
        return numbers.values[char[0]]
    else:
        return numbers.values[char[0]] if char[0] < 256 else char_value(char[0], numbers.key)


cdef void _hash_words(
    const Char *chars,
    Py_ssize_t end,
    const uint32_t* starts,
    Py_ssize_t count,
    const Numbers *numbers,
    uint64_t* target,
) noexcept nogil:
    """Write the hash of each word: the hash of the text up to its end minus the shifted hash up to its start.

    So the loop over characters ignores word boundaries; branches on their unpredictable lengths would halve the speed.
    """
    cdef uint64_t hashes[BLOCK + 1]  # prefix hashes of the text, for each character of a block
    cdef uint64_t base = numbers.base, base_2 = base * base, base_3 = base_2 * base, base_4 = base_3 * base
    cdef uint64_t hash = 0, before = 0, one, two, three, four
    cdef Py_ssize_t block = 0, i, size, word = 0, start = 0, stop
    while block < end:
        size = min(end - block, <Py_ssize_t>BLOCK)
        hashes[0] = hash
        i = 0
        # Four characters at a time: only one multiplication in four depends on the previous one.
        while i + 4 <= size:
            one = _value(chars + block + i, numbers)
            two = one * base + _value(chars + block + i + 1, numbers)
            three = two * base + _value(chars + block + i + 2, numbers)
            four = three * base + _value(chars + block + i + 3, numbers)
            hashes[i + 1] = hash * base + one
            hashes[i + 2] = hash * base_2 + two
            hashes[i + 3] = hash * base_3 + three
            hash = hash * base_4 + four
            hashes[i + 4] = hash
            i += 4
        while i < size:
            hash = hash * base + _value(chars + block + i, numbers)
            i += 1
            hashes[i] = hash
        while word < count:
            stop = starts[word + 1] if word + 1 < count else end
            if stop > block + size:
                break
            before *= numbers.powers[stop - start] if stop - start < POWERS else power(base, stop - start)
            target[word] = mix(hashes[stop - block] - before)
            before = hashes[stop - block]
            start = stop
            word += 1
        block += size


cdef void _roll(uint64_t* target, Py_ssize_t count, Py_ssize_t words, uint64_t base) noexcept nogil:
    """Replace the hashes of words in `target` by the hashes of each `words` consecutive words."""
    cdef uint64_t hash = 0, base_words = power(base, words), leaving
    cdef Py_ssize_t i
    for i in range(words):
        hash = hash * base + target[i]
    for i in range(words, count):
        leaving = target[i - words]
        target[i - words] = mix(hash)
        hash = hash * base + target[i] - leaving * base_words
    target[count - words] = mix(hash)
