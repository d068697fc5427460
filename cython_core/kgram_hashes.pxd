"""Hashes of k-grams: 61-bit integers, and keys by which windows order them."""

from libc.stdint cimport uint32_t, uint64_t

# A key below 2**63 has a class in its top bits and a 61-bit hash below; the lowest class is preferred. The three low
# bits of a polynomial mod 2**64 are its weakest. Dropping them makes room for the class, and k-grams that tie in a
# window have the same fingerprint: otherwise two copies could keep different ones.
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
    # A rolling hash over a text: its characters, and the numbers that represent them.
    const void* chars
    int width                   # bytes per character: 1, 2 or 4
    Py_ssize_t k
    uint64_t key
    uint64_t base
    uint64_t base_k             # base**k
    uint64_t[4][4] factors      # by the number of characters after a prefix: their factors, and that of the prefix
    uint64_t[256] enters        # what a one-byte character adds when it enters the k-gram
    uint64_t[256] leaves        # what it subtracts when it leaves
    const uint64_t* table       # what a wider character adds
    uint32_t table_size         # for characters beyond, the summand is computed


cdef Roller roller(str chars, Py_ssize_t k, uint64_t key)
cdef void roll(const Roller* grams, Py_ssize_t start, Py_ssize_t n, KeyClass key_class, uint64_t* keys) noexcept nogil
cdef void hash_fours(
    const Roller* ones, Py_ssize_t start, Py_ssize_t n, uint64_t* keys, uint64_t* prefixes
) noexcept nogil
cdef void add_hashes(
    const Roller* grams, Py_ssize_t start, const uint64_t* prefixes, const uint32_t* places, Py_ssize_t count,
    uint64_t* keys
) noexcept nogil
