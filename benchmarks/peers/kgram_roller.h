/* k-gram hashes one after the other, each from the one before: the numbers of cython_core/kgram_hashes.pyx, so that a peer that
 * picks right gives the very fingerprints of the core. What the core's own loop does about latency is left out on purpose. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t hash, base, enters[256], leaves[256];
} Roller;

static inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Ready for the k-gram at place 0 to be entered with its last character. */
static inline Roller roller(const uint8_t *chars, size_t k) {
    Roller roller = {0, (mix(0xD1B54A32D192ED03u) & ~(uint64_t)7) | 5, {0}, {0}};
    uint64_t base_k = 1;
    for (size_t i = 0; i < k; i++) base_k *= roller.base;
    for (uint64_t c = 0; c < 256; c++) {
        roller.enters[c] = mix((c + 1) * 0x9E3779B97F4A7C15u);
        roller.leaves[c] = roller.enters[c] * base_k;
    }
    for (size_t i = 0; i + 1 < k; i++) roller.hash = roller.hash * roller.base + roller.enters[chars[i]];
    return roller;
}

/* The key of the k-gram at `place`, which is the one after the last that was asked for. */
static inline uint64_t next_key(Roller *roller, const uint8_t *chars, size_t k, size_t place) {
    roller->hash = roller->hash * roller->base + roller->enters[chars[place + k - 1]];
    if (place) roller->hash -= roller->leaves[chars[place - 1]];
    return roller->hash >> 3;
}
