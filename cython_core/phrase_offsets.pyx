"""Offsets of phrases in a text, for highlighting."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memset

from opensearch_winnow.cython_core.word_tokens cimport Tokens, free_tokens, tokenize

cdef extern from "Python.h":
    object PyUnicode_FromObject(object text)

cdef struct Phrase:
    const char* bytes  # its words joined, in UTF-8
    uint32_t* ends  # of each word, as offsets in bytes
    Py_ssize_t words
    bint prefix
    Py_ssize_t found  # occurrences found so far


def phrase_offsets(text, phrases, *, max_per_phrase) -> list[tuple[int, int, int]]:
    """Find phrases in `text`; return (start, end, index of the phrase), sorted by start, then by phrase.

    A phrase is (words, last_is_prefix), the words as word_tokens() returns them. The first `max_per_phrase`
    occurrences of each phrase are returned.
    """
    if not isinstance(text, str):
        raise TypeError(f"phrase_offsets() expects str, got {type(text).__name__}")
    cdef Py_ssize_t limit = max_per_phrase, count = len(phrases), i, p
    cdef uint32_t begin = 0
    cdef Tokens tokens
    cdef Phrase* phrase
    cdef Phrase* patterns = <Phrase*>calloc(count + 1, sizeof(Phrase))  # + 1: never an empty block
    cdef list offsets = []
    cdef list encoded = []  # keeps the bytes alive that the phrases point to
    memset(&tokens, 0, sizeof(tokens))
    try:
        if patterns == NULL:
            raise MemoryError(f"no memory for {count} phrases")
        for p in range(count):
            words, patterns[p].prefix = phrases[p]
            encoded.append(_set_words(&patterns[p], words))
        tokenize(PyUnicode_FromObject(text), &tokens)
        for i in range(tokens.count):
            for p in range(count):
                phrase = &patterns[p]
                if phrase.found < limit and _is_at(phrase, &tokens, i, begin):
                    phrase.found += 1
                    offsets.append((tokens.first[i], tokens.last[i + phrase.words - 1], p))
            begin = tokens.ends[i]
        return offsets
    finally:
        for p in range(count if patterns != NULL else 0):
            free(patterns[p].ends)
        free(patterns)
        free_tokens(&tokens)


cdef bytes _set_words(Phrase* phrase, words):
    """Point `phrase` to its encoded words and return their bytes, which the caller keeps alive."""
    cdef list encoded = []
    cdef bytes joined
    cdef Py_ssize_t i
    cdef uint32_t end = 0
    for word in words:
        encoded.append(word.encode("utf-8", "surrogatepass"))
    joined = b"".join(encoded)
    phrase.ends = <uint32_t*>calloc(len(encoded) + 1, sizeof(uint32_t))
    if phrase.ends == NULL:
        raise MemoryError(f"no memory for a phrase of {len(encoded)} words")
    for i in range(len(encoded)):
        end += <uint32_t>len(encoded[i])
        phrase.ends[i] = end
    phrase.bytes, phrase.words = joined, len(encoded)
    return joined


cdef inline bint _is_at(const Phrase* phrase, const Tokens* tokens, Py_ssize_t i, uint32_t begin) noexcept nogil:
    """Return whether the phrase occurs at word i of the text, whose bytes start at `begin`."""
    cdef Py_ssize_t last = phrase.words - 1, k
    if last < 0 or i + last >= tokens.count:
        return False
    cdef uint32_t size = phrase.ends[last], length = tokens.ends[i + last] - begin
    if length != size and not (phrase.prefix and length > size):
        return False
    if memcmp(tokens.bytes + begin, phrase.bytes, size) != 0:
        return False
    for k in range(last):
        if tokens.ends[i + k] - begin != phrase.ends[k]:
            return False
    return True
