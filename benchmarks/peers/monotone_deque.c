/* Winnowing with the textbook's monotone deque: keys that may still become the minimum of a window wait in it, rising from head
 * to tail. Constant time a k-gram on average, whatever w is and whatever the text. Ties go to the rightmost (Definition 1). */
#include "kgram_roller.h"
#include <stdlib.h>

typedef struct {
    uint64_t key;
    size_t place;
} Waiting;

size_t winnow(const uint8_t *chars, size_t n, size_t k, size_t w, uint64_t *hashes, uint32_t *positions) {
    size_t mask = 1, head = 0, tail = 0, count = 0, picked = SIZE_MAX;
    while (mask < w + 1) mask *= 2; /* a ring of a power of two, which is cheap to go around */
    Waiting *ring = malloc(mask-- * sizeof *ring);
    if (!ring) return 0;
    Roller grams = roller(chars, k);
    for (size_t place = 0; place + k <= n; place++) {
        const uint64_t key = next_key(&grams, chars, k, place);
        while (tail > head && ring[(tail - 1) & mask].key >= key) tail--;
        ring[tail++ & mask] = (Waiting){key, place};
        if (place + 1 < w) continue;
        if (ring[head & mask].place + w <= place) head++;
        const Waiting least = ring[head & mask];
        if (least.place != picked) {
            picked = least.place;
            hashes[count] = mix(least.key);
            positions[count++] = (uint32_t)picked;
        }
    }
    free(ring);
    return count;
}
