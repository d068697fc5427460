"""Where phrases are in a text."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memset

from opensearch_winnow.cython_core.word_tokens cimport Tokens, free_tokens, tokenize

cdef extern from "Python.h":
    object PyUnicode_FromObject(object text)

cdef struct Phrase:
    const char* bytes  # its words, one after the other, in UTF-8
    uint32_t* ends  # of each word in the bytes
    Py_ssize_t words
    bint prefix
    Py_ssize_t found  # so often so far


def word_places(text, phrases, *, most) -> list[tuple[int, int, int]]:
    """Where the phrases are: (start, end) in the text, and the index of the phrase; by start, then by phrase.

    A phrase is its words, as word_tokens() has them, and whether the last is only the beginning of a word. Of each one
    the first `most` places are found.
    """
    if not isinstance(text, str):
        raise TypeError(f"word_places() wants str, got {type(text).__name__}")
    cdef Py_ssize_t limit = most, count = len(phrases), i, p
    cdef uint32_t begin = 0
    cdef Tokens tokens
    cdef Phrase* phrase
    cdef Phrase* asked = <Phrase*>calloc(count + 1, sizeof(Phrase))  # + 1: never an empty block
    cdef list places = []
    cdef list kept = []  # the bytes that the phrases point to
    memset(&tokens, 0, sizeof(tokens))
    try:
        if asked == NULL:
            raise MemoryError(f"no memory for {count} phrases")
        for p in range(count):
            words, asked[p].prefix = phrases[p]
            kept.append(_set(&asked[p], [word.encode("utf-8", "surrogatepass") for word in words]))
        tokenize(PyUnicode_FromObject(text), &tokens)
        for i in range(tokens.count):
            for p in range(count):
                phrase = &asked[p]
                if phrase.found < limit and _is_at(phrase, &tokens, i, begin):
                    phrase.found += 1
                    places.append((tokens.first[i], tokens.last[i + phrase.words - 1], p))
            begin = tokens.ends[i]
        return places
    finally:
        for p in range(count if asked != NULL else 0):
            free(asked[p].ends)
        free(asked)
        free_tokens(&tokens)


cdef bytes _set(Phrase* phrase, list words):
    cdef bytes joined = b"".join(words)
    cdef Py_ssize_t i
    cdef uint32_t end = 0
    phrase.ends = <uint32_t*>calloc(len(words) + 1, sizeof(uint32_t))
    if phrase.ends == NULL:
        raise MemoryError(f"no memory for a phrase of {len(words)} words")
    for i in range(len(words)):
        end += <uint32_t>len(words[i])
        phrase.ends[i] = end
    phrase.bytes, phrase.words = joined, len(words)
    return joined


cdef inline bint _is_at(const Phrase* phrase, const Tokens* tokens, Py_ssize_t i, uint32_t begin) noexcept nogil:
    """Whether the phrase starts with word i of the text, whose bytes start at `begin`."""
    cdef Py_ssize_t last = phrase.words - 1, k
    if last < 0 or i + last >= tokens.count:
        return False
    cdef uint32_t size = phrase.ends[last], there = tokens.ends[i + last] - begin
    if there != size and not (phrase.prefix and there > size):
        return False
    if memcmp(tokens.bytes + begin, phrase.bytes, size) != 0:
        return False
    for k in range(last):
        if tokens.ends[i + k] - begin != phrase.ends[k]:
            return False
    return True
