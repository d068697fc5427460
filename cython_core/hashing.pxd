"""The arithmetic of every hash: integers mod 2**64, equal on every platform."""

from libc.stdint cimport uint32_t, uint64_t


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Apply the finaliser of SplitMix64: a bijection in which every output bit depends on every input bit."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t char_value(uint32_t char, uint64_t key) noexcept nogil:
    """Return the number that represents a character: element `char` of the SplitMix64 sequence seeded with `key`."""
    return mix(key + (<uint64_t>char + 1) * <uint64_t>0x9E3779B97F4A7C15)


cdef inline uint64_t radix(uint64_t key) noexcept nogil:
    """Return the base of the polynomial hashes. It is 5 mod 8, which gives its powers the longest period."""
    return (mix(key ^ <uint64_t>0xD1B54A32D192ED03) & ~<uint64_t>7) | 5


cdef inline uint64_t power(uint64_t base, uint64_t exponent) noexcept nogil:
    cdef uint64_t result = 1
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result
