/* The vector loops of window_minima.pyx. Each has a portable form and, on x86-64 with gcc or clang, one for AVX2 that is
 * chosen at run time: the same wheel serves every processor.
 *
 * Keys are below 2**63, so a signed comparison orders them. Reads may run up to MARGIN keys past either end of a range;
 * the buffer has that space. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

#define MARGIN 128

/* Windows of fewer keys are processed as vectors: the positions in a window fit the bits of a word. For longer ones hop()
 * is used, which is faster at 100 keys (docs/decisions/0002-fingerprints.md). */
#define SHORT_WINDOW 64

/* A block of keys, and the state of the windows before it. Window i holds the keys i to i + w - 1. */
typedef struct {
    uint64_t *keys;
    uint64_t *scratch; /* space for as many keys */
    ptrdiff_t n, w;
    int robust;      /* ties by Definition 3 of the winnowing paper; else by Definition 1: rightmost in the window */
    ptrdiff_t next;  /* the first undecided window */
    ptrdiff_t pick;  /* the key that window next - 1 picked */
    ptrdiff_t count; /* of picks in this block */
    uint32_t *picks; /* the keys picked */
    uint32_t *firsts; /* the first window of each pick */
    void *memory;
} Windows;

static inline void record(Windows *in, ptrdiff_t window, ptrdiff_t pick) {
    in->pick = pick;
    in->picks[in->count] = (uint32_t)pick;
    in->firsts[in->count++] = (uint32_t)window;
    in->next = window + 1;
}

static inline ptrdiff_t first_below_portable(const uint64_t *keys, ptrdiff_t i, ptrdiff_t end, uint64_t bound) {
    while (i < end && keys[i] >= bound) i++;
    return i;
}

static inline ptrdiff_t rightmost_minimum_portable(const uint64_t *keys, ptrdiff_t i, ptrdiff_t end) {
    ptrdiff_t best = end - 1;
    for (ptrdiff_t j = end - 2; j >= i; j--)
        if (keys[j] < keys[best]) best = j;
    return best;
}

#ifdef VECTORS
AVX2 static inline __m256i load_keys(const uint64_t *keys) { return _mm256_loadu_si256((const __m256i *)keys); }

AVX2 static inline __m256i lesser(__m256i a, __m256i b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }

AVX2 static inline ptrdiff_t first_below_avx2(const uint64_t *keys, ptrdiff_t i, ptrdiff_t end, uint64_t bound) {
    const __m256i bounds = _mm256_set1_epi64x((long long)bound);
    for (; i < end; i += 16) {
        unsigned found = 0;
        for (int lane = 0; lane < 16; lane += 4) {
            const __m256i below = _mm256_cmpgt_epi64(bounds, load_keys(keys + i + lane));
            found |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(below)) << lane;
        }
        if (found) {
            i += __builtin_ctz(found);
            return i < end ? i : end;
        }
    }
    return end;
}

/* Returns the rightmost key before `end` that equals `value`; there must be one. */
AVX2 static inline ptrdiff_t rightmost_equal(const uint64_t *keys, ptrdiff_t end, __m256i value) {
    for (;; end -= 32) {
        unsigned found = 0;
        for (int lane = 0; lane < 32; lane += 4) {
            const __m256i equal = _mm256_cmpeq_epi64(value, load_keys(keys + end - 32 + lane));
            found |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << lane;
        }
        if (found) return end - 1 - __builtin_clz(found);
    }
}

AVX2 static inline ptrdiff_t rightmost_minimum_avx2(const uint64_t *keys, ptrdiff_t i, ptrdiff_t end) {
    if (end - i < 8) return rightmost_minimum_portable(keys, i, end);
    __m256i even = load_keys(keys + end - 8), odd = load_keys(keys + end - 4);
    for (; i + 8 <= end; i += 8) {
        even = lesser(even, load_keys(keys + i));
        odd = lesser(odd, load_keys(keys + i + 4));
    }
    even = lesser(even, odd);
    even = lesser(even, _mm256_permute4x64_epi64(even, 0x4E)); /* the halves swapped */
    even = lesser(even, _mm256_permute4x64_epi64(even, 0xB1)); /* the neighbours swapped */
    return rightmost_equal(keys, end, even);
}

/* Returns the 16 bits below the highest, which is 0, of each of 8 keys: the lower four and the upper four take turns. */
AVX2 static inline __m256i tops_of(const uint64_t *keys) {
    const __m256 four = _mm256_castsi256_ps(load_keys(keys)), more = _mm256_castsi256_ps(load_keys(keys + 4));
    return _mm256_srli_epi32(_mm256_castps_si256(_mm256_shuffle_ps(four, more, 0xDD)), 15);
}

/* Writes the tops of the keys. These 16 bits decide almost every comparison, and four times as many fit into a vector. */
AVX2 static inline void write_tops(const uint64_t *keys, uint16_t *tops, ptrdiff_t n) {
    const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (ptrdiff_t i = 0; i < n; i += 16) {
        const __m256i pairs = _mm256_packus_epi32(tops_of(keys + i), tops_of(keys + i + 8));
        _mm256_storeu_si256((__m256i *)(tops + i), _mm256_permutevar8x32_epi32(pairs, in_order));
    }
}

AVX2 static inline __m256i load_tops(const uint16_t *tops) { return _mm256_loadu_si256((const __m256i *)tops); }

/* minima[i] = the smallest of tops[i .. i+w), in about log4(w) passes: a window of 4s keys is four windows of s side by
 * side, and in the last pass these overlap if w is no power of four. */
AVX2 static inline void sliding_minima(const uint16_t *tops, uint16_t *minima, ptrdiff_t n, ptrdiff_t w) {
    const uint16_t *from = tops;
    for (ptrdiff_t s = 1; s < w || s == 1; s *= 4) {
        const ptrdiff_t last = w < 4 * s ? w - s : 3 * s;
        const ptrdiff_t second = s < last ? s : last, third = 2 * s < last ? 2 * s : last;
        for (ptrdiff_t i = 0; i < n; i += 16) {
            const __m256i left = _mm256_min_epu16(load_tops(from + i), load_tops(from + i + second));
            const __m256i right = _mm256_min_epu16(load_tops(from + i + third), load_tops(from + i + last));
            _mm256_storeu_si256((__m256i *)(minima + i), _mm256_min_epu16(left, right));
        }
        from = minima;
    }
}

/* Returns a bit for each of 32 comparisons of tops. */
AVX2 static inline uint64_t bits(__m256i sixteen, __m256i more) {
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(sixteen, more), 0xD8));
}

/* Returns a bit for each of 32 tops, whether it is equal in a and b. */
AVX2 static inline uint64_t equal_tops(const uint16_t *a, const uint16_t *b) {
    return bits(_mm256_cmpeq_epi16(load_tops(a), load_tops(b)), _mm256_cmpeq_epi16(load_tops(a + 16), load_tops(b + 16)));
}

/* Bit i of the result: window i of 64 may have to pick anew, because its minimum differs from that of the window before,
 * or because its last key is as small. */
AVX2 static inline uint64_t changes(const uint16_t *minima, const uint16_t *lasts) {
    const uint64_t same = equal_tops(minima, minima - 1) | equal_tops(minima + 32, minima + 31) << 32;
    return ~same | equal_tops(minima, lasts) | equal_tops(minima + 32, lasts + 32) << 32;
}

/* Returns the pick of a window by itself: the smallest of the keys with the smallest top, and of equal ones the
 * rightmost. Adds the other keys with that top to `ties`: in ordinary text they are few. */
AVX2 static inline ptrdiff_t pick_of(
    const Windows *in, const uint16_t *tops, const uint16_t *minima, ptrdiff_t window, ptrdiff_t *ties) {
    const __m256i least = _mm256_set1_epi16((short)minima[window]);
    uint64_t found = 0;
    for (ptrdiff_t lane = 0; lane < in->w; lane += 32) {
        const uint16_t *here = tops + window + lane;
        found |= bits(_mm256_cmpeq_epi16(least, load_tops(here)), _mm256_cmpeq_epi16(least, load_tops(here + 16))) << lane;
    }
    found &= ((uint64_t)1 << in->w) - 1;
    ptrdiff_t last = 63 - __builtin_clzll(found), pick = window + last;
    while ((found ^= (uint64_t)1 << last)) {
        last = 63 - __builtin_clzll(found);
        if (in->keys[window + last] < in->keys[pick]) pick = window + last;
        ++*ties;
    }
    return pick;
}

/* Decides the windows from `next` on; at least one is decided already. The windows where the minimum changes are known
 * before the picks, so no pick waits for the one before it. Stops early if there are more ties than keys. */
AVX2 static inline void slide_avx2(Windows *windows) {
    Windows in = *windows; /* a local copy, which no store can alias, stays in registers */
    const ptrdiff_t end = in.n - in.w + 1;
    ptrdiff_t ties = 0, base = in.next;
    uint16_t *tops = (uint16_t *)in.scratch, *minima = tops + in.n + MARGIN;
    write_tops(in.keys, tops, in.n);
    sliding_minima(tops, minima, in.n, in.w);
    for (; base < end && ties <= in.n; base += 64) {
        uint64_t changed = changes(minima + base, tops + base + in.w - 1);
        if (end - base < 64) changed &= ((uint64_t)1 << (end - base)) - 1;
        for (; changed; changed &= changed - 1) {
            const ptrdiff_t window = base + __builtin_ctzll(changed);
            while (in.pick + 1 < window) /* the pick left, an equal key stayed */
                record(&in, in.pick + 1, pick_of(&in, tops, minima, in.pick + 1, &ties));
            if (minima[window] != minima[window - 1] || in.pick < window) {
                record(&in, window, pick_of(&in, tops, minima, window, &ties));
            } else { /* an equal top entered: only the key that entered can beat the pick */
                const ptrdiff_t last = window + in.w - 1;
                if (in.keys[last] < in.keys[in.pick] + !in.robust) record(&in, window, last);
            }
        }
    }
    if (base >= end) {
        while (in.pick + 1 < end) record(&in, in.pick + 1, pick_of(&in, tops, minima, in.pick + 1, &ties));
        in.next = end;
    }
    *windows = in;
}
#else
#define first_below_avx2 first_below_portable
#define rightmost_minimum_avx2 rightmost_minimum_portable
static inline void slide_avx2(Windows *windows) { (void)windows; } /* never called */
#endif
