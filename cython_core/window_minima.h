/* The vector loops of window_minima.pyx, for AVX2, on x86-64 with gcc or clang. They are chosen at run time: the same
 * wheel serves every processor.
 *
 * Reads may run up to MARGIN keys past either end of a range; the buffers have that space. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

#define MARGIN 128

/* Windows of fewer keys go to slide(): the positions in a window fit the bits of a word. For longer ones hop() is faster
 * (docs/decisions/0002-fingerprints.md). */
#define SHORT_WINDOW 64

/* The most ties that slide() takes in n keys. Ordinary text has hardly any; they take time where a text repeats
 * itself, or was made for it. */
#define MAX_TIES(n) ((n) / 8)

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

#ifdef VECTORS
AVX2 static inline __m256i load_keys(const uint64_t *keys) { return _mm256_loadu_si256((const __m256i *)keys); }

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
 * rightmost. Adds the number of other keys with that top to `ties`. */
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
 * before the picks, so no pick waits for the one before it. Stops early if there are too many ties. */
AVX2 static inline void slide_avx2(Windows *windows) {
    Windows in = *windows; /* a local copy, which no store can alias, stays in registers */
    const ptrdiff_t end = in.n - in.w + 1;
    ptrdiff_t ties = 0, base = in.next;
    uint16_t *tops = (uint16_t *)in.scratch, *minima = tops + in.n + MARGIN;
    write_tops(in.keys, tops, in.n);
    sliding_minima(tops, minima, in.n, in.w);
    for (; base < end && ties <= MAX_TIES(in.n); base += 64) {
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

/* Returns the first key from `i` to `end` that replaces the pick when it enters a window, or `end`. */
AVX2 static inline ptrdiff_t first_below_pick(const Windows *in, const uint16_t *tops, ptrdiff_t i, ptrdiff_t end) {
    const uint64_t bound = in->keys[in->pick] + !in->robust;
    if (i < end && in->keys[i] < bound) return i; /* in falling keys each one replaces the pick */
    const __m256i top = _mm256_set1_epi16((short)tops[in->pick]);
    for (; i < end; i += 32) {
        const __m256i some = load_tops(tops + i), more = load_tops(tops + i + 16);
        uint64_t found = bits(
            _mm256_cmpeq_epi16(some, _mm256_min_epu16(some, top)), _mm256_cmpeq_epi16(more, _mm256_min_epu16(more, top)));
        for (; found; found &= found - 1) {
            const ptrdiff_t key = i + __builtin_ctzll(found);
            if (in->keys[key] < bound) return key < end ? key : end;
        }
    }
    return end;
}

/* Returns the pick of a window by itself, like pick_of(), for a window of at least 16 keys. */
AVX2 static inline ptrdiff_t search(const Windows *in, const uint16_t *tops, ptrdiff_t window) {
    ptrdiff_t end = window + in->w, pick = -1;
    __m256i least = load_tops(tops + end - 16);
    for (ptrdiff_t i = window; i < end - 16; i += 16) least = _mm256_min_epu16(least, load_tops(tops + i));
    least = _mm256_min_epu16(least, _mm256_permute4x64_epi64(least, 0x4E)); /* the halves swapped */
    least = _mm256_broadcastw_epi16(_mm_minpos_epu16(_mm256_castsi256_si128(least)));
    for (; end > window; end -= 32) {
        const uint16_t *here = tops + end - 32;
        uint64_t found = bits(_mm256_cmpeq_epi16(least, load_tops(here)), _mm256_cmpeq_epi16(least, load_tops(here + 16)));
        if (end - window < 32) found &= ~(uint64_t)0 << (32 - (end - window));
        while (found) {
            const ptrdiff_t last = 63 - __builtin_clzll(found), key = end - 32 + last;
            if (pick < 0 || in->keys[key] < in->keys[pick]) pick = key;
            found ^= (uint64_t)1 << last;
        }
    }
    return pick;
}

/* Decides the windows from `next` on, with at most `searches` searches of a whole window: hop() of window_minima.pyx. */
AVX2 static inline void hop_avx2(Windows *windows, ptrdiff_t searches) {
    Windows in = *windows;
    const ptrdiff_t last = in.n - in.w;
    uint16_t *tops = (uint16_t *)in.scratch + MARGIN;
    write_tops(in.keys, tops, in.n);
    while (in.next <= last && searches) {
        if (in.pick < in.next) {
            searches--;
            record(&in, in.next, search(&in, tops, in.next));
            continue;
        }
        const ptrdiff_t stop = in.pick < last ? in.pick : last;
        const ptrdiff_t found = first_below_pick(&in, tops, in.next + in.w - 1, stop + in.w);
        if (found < stop + in.w)
            record(&in, found - in.w + 1, found);
        else
            in.next = stop + 1;
    }
    *windows = in;
}
#else
/* Never called. */
static inline void slide_avx2(Windows *windows) { (void)windows; }
static inline void hop_avx2(Windows *windows, ptrdiff_t searches) { (void)windows, (void)searches; }
#endif
