"""k-grams of canonical text as 61-bit integers, and as keys that a window routine orders."""

from libc.stdint cimport uint64_t

# A key is a class, of which the order prefers the lower, above a 61-bit hash, and below 2**63. The three low bits of a
# polynomial mod 2**64 are its weakest. Giving them up leaves room for the class, and k-grams that tie in a window have
# the same fingerprint: else two copies could pick different ones.
cdef enum:
    HASH_BITS = 61
cdef enum KeyClass:
    OPEN = 0
    CLOSED = 1
    OTHER = 2


cdef inline uint64_t key_of(uint64_t hash, KeyClass key_class) noexcept nogil:
    return (<uint64_t>key_class << HASH_BITS) | hash


cdef inline uint64_t hash_of(uint64_t key) noexcept nogil:
    return key & ((<uint64_t>1 << HASH_BITS) - 1)


cdef struct Roller:
    # What rolls over a text: where its characters are, and the numbers that stand for them.
    const void* chars
    int width                   # bytes a character: 1, 2 or 4
    Py_ssize_t k
    uint64_t key
    uint64_t base
    uint64_t base_k             # base to the power of k
    uint64_t[256] enters        # what a character of one byte adds as it enters the k-gram
    uint64_t[256] leaves        # and takes away as it leaves


cdef Roller roller(str chars, Py_ssize_t k, uint64_t key)
cdef void roll(const Roller* grams, Py_ssize_t start, Py_ssize_t n, KeyClass key_class, uint64_t* keys) noexcept nogil
