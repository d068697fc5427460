/* The vector loop that finds syncmers: k-grams whose smallest small gram is in the middle (open) or at an end (closed). */
#pragma once
#include "window_minima.h"

#ifdef VECTORS
/* The small grams of a block, and the smallest top of each window of them, which is a k-gram. */
typedef struct {
    const Windows *windows;
    const uint16_t *tops, *minima;
    ptrdiff_t ties;
} SmallGrams;

/* Bit i of the result: the smallest top of k-gram `start` + i is that of its small gram `at`. There are 64 bits. */
AVX2 static inline uint64_t smallest_at(const SmallGrams *in, ptrdiff_t start, ptrdiff_t at) {
    const uint16_t *minima = in->minima + start, *tops = in->tops + start + at;
    return equal_tops(minima, tops) | equal_tops(minima + 32, tops + 32) << 32;
}

/* Writes the k-grams from `start` to `end` whose smallest small gram is at `a` or `b`, and returns their number. */
AVX2 static inline ptrdiff_t find_at(
    SmallGrams *in, ptrdiff_t a, ptrdiff_t b, ptrdiff_t start, ptrdiff_t end, uint32_t *places) {
    ptrdiff_t count = 0;
    for (; start < end && in->ties <= MAX_TIES(in->windows->n); start += 64) {
        uint64_t found = smallest_at(in, start, a) | smallest_at(in, start, b);
        if (end - start < 64) found &= ((uint64_t)1 << (end - start)) - 1;
        for (; found; found &= found - 1) {
            const ptrdiff_t place = start + __builtin_ctzll(found);
            const ptrdiff_t at = pick_of(in->windows, in->tops, in->minima, place, &in->ties) - place;
            places[count] = (uint32_t)place; /* the next one overwrites it if only the tops were equal */
            count += (at == a) | (at == b);
        }
    }
    return count;
}

/* Writes the places of syncmers among `n` k-grams in order, and to `keys` their classes, and returns their number. Closed
 * ones that share each window of w k-grams with an open one are left out. Returns -1 if there are too many ties. */
AVX2 static inline ptrdiff_t find_syncmers_avx2(
    Windows *small, ptrdiff_t n, ptrdiff_t w, uint64_t open, uint64_t closed, uint32_t *places, uint64_t *keys) {
    const ptrdiff_t last = small->w - 1, middle = last / 2;
    uint16_t *tops = (uint16_t *)small->scratch, *minima = tops + small->n + MARGIN;
    uint32_t *opens = small->picks;
    SmallGrams in = {small, tops, minima, 0};
    write_tops(small->keys, tops, small->n);
    sliding_minima(tops, minima, small->n, small->w);
    const ptrdiff_t open_count = find_at(&in, middle, middle, 0, n, opens);
    ptrdiff_t count = 0, after = 0; /* after the last open one */
    for (ptrdiff_t i = 0; i <= open_count; i++) {
        const int at_edge = i == 0 || i == open_count; /* of the block: the open one beyond it may be far away */
        const ptrdiff_t place = i < open_count ? opens[i] : n;
        if (at_edge || place - after >= w) {
            const ptrdiff_t more = find_at(&in, 0, last, after, place, places + count);
            for (ptrdiff_t j = 0; j < more; j++) keys[places[count++]] = closed;
        }
        if (i < open_count) keys[places[count++] = (uint32_t)place] = open;
        after = place + 1;
    }
    return in.ties <= MAX_TIES(small->n) ? count : -1;
}
#else
static inline ptrdiff_t find_syncmers_avx2(
    Windows *small, ptrdiff_t n, ptrdiff_t w, uint64_t open, uint64_t closed, uint32_t *places, uint64_t *keys) {
    (void)small, (void)n, (void)w, (void)open, (void)closed, (void)places, (void)keys;
    return -1; /* never called */
}
#endif
