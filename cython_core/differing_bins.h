/* Counts the bins in which two packed MinHashes differ. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two words at a time: every vector unit can do that. gcc does not vectorise this loop by itself, and without it takes
 * twice as long. */
#if defined(__GNUC__) && !defined(PORTABLE)
typedef uint64_t lanes __attribute__((vector_size(16)));
#else
typedef uint64_t lanes;
#endif

/* Bytes per block, 8 lanes. 8 differences fit into the half byte of a bin, and those of the 8 bins of a
 * byte, in 2 words per lane, into a byte. */
#define BLOCK (8 * sizeof(lanes))

/* Folds the differing bits of each bin onto the lowest bit of the bin, and sums these per half byte. */
static inline lanes fold_bins(lanes differing, int bits) {
    if (bits > 8) differing |= differing >> 8;
    if (bits > 4) differing |= differing >> 4;
    if (bits > 2) differing |= differing >> 2;
    if (bits > 1) differing |= differing >> 1;
    differing &= UINT64_MAX / ((UINT64_C(1) << bits) - 1); /* the lowest bit of every bin */
    if (bits < 2) differing -= (differing >> 1) & UINT64_C(0x5555555555555555);
    if (bits < 4) differing = (differing & UINT64_C(0x3333333333333333)) + ((differing >> 2) & UINT64_C(0x3333333333333333));
    return differing;
}

static inline lanes sum_half_bytes(lanes half_bytes) {
    return (half_bytes & UINT64_C(0x0F0F0F0F0F0F0F0F)) + ((half_bytes >> 4) & UINT64_C(0x0F0F0F0F0F0F0F0F));
}

static inline ptrdiff_t differing_in_block(const unsigned char *a, const unsigned char *b, int bits) {
    lanes x, y, sums = {0};
    uint64_t words[sizeof(lanes) / sizeof(uint64_t)], counts = 0;
    for (size_t i = 0; i < BLOCK; i += sizeof x) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        x = fold_bins(x ^ y, bits);
        sums += bits < 4 ? sum_half_bytes(x) : x;
    }
    if (bits >= 4) sums = sum_half_bytes(sums);
    memcpy(words, &sums, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) counts += words[i];
    counts = (counts & UINT64_C(0x00FF00FF00FF00FF)) + ((counts >> 8) & UINT64_C(0x00FF00FF00FF00FF));
    return (ptrdiff_t)(counts * UINT64_C(0x0001000100010001) >> 48);
}

static inline ptrdiff_t differing_in(
    const unsigned char *a, const unsigned char *b, ptrdiff_t size, int bits, ptrdiff_t limit) {
    ptrdiff_t total = 0;
    for (; size >= (ptrdiff_t)BLOCK && total <= limit; size -= BLOCK, a += BLOCK, b += BLOCK)
        total += differing_in_block(a, b, bits);
    if (size > 0 && total <= limit) {
        unsigned char x[BLOCK] = {0}, y[BLOCK] = {0};
        memcpy(x, a, (size_t)size);
        memcpy(y, b, (size_t)size);
        total += differing_in_block(x, y, bits);
    }
    return total;
}

/* Returns the number of differing bins; if more than `limit` differ, any number above `limit`. There is one call for
 * each number of bits, so that each is compiled with constant shifts. */
static inline ptrdiff_t differing_bins(
    const unsigned char *a, const unsigned char *b, ptrdiff_t size, ptrdiff_t bits, ptrdiff_t limit) {
    switch (bits) {
        case 1: return differing_in(a, b, size, 1, limit);
        case 2: return differing_in(a, b, size, 2, limit);
        case 4: return differing_in(a, b, size, 4, limit);
        case 8: return differing_in(a, b, size, 8, limit);
        default: return differing_in(a, b, size, 16, limit);
    }
}
