/* Winnowing as figure 5 of the paper has it: the last w keys in a circular buffer, and the place of the minimum. Only when the
 * minimum leaves is the buffer searched, which rising keys make happen at every k-gram: w steps each. Ties go to the rightmost
 * (Definition 1). Unlike the figure, nothing is recorded before the first window is full. */
#include "kgram_roller.h"
#include <stdlib.h>

size_t winnow(const uint8_t *chars, size_t n, size_t k, size_t w, uint64_t *hashes, uint32_t *positions) {
    uint64_t *buffer = malloc(w * sizeof *buffer);
    size_t right = w - 1, least = 0, count = 0;
    if (!buffer) return 0;
    for (size_t i = 0; i < w; i++) buffer[i] = UINT64_MAX;
    Roller grams = roller(chars, k);
    for (size_t place = 0; place + k <= n; place++) {
        right = right + 1 == w ? 0 : right + 1;
        buffer[right] = next_key(&grams, chars, k, place);
        if (least == right) {
            for (size_t i = right ? right - 1 : w - 1; i != right; i = i ? i - 1 : w - 1)
                if (buffer[i] < buffer[least]) least = i;
        } else if (buffer[right] <= buffer[least]) {
            least = right;
        } else if (place + 1 != w) {
            continue; /* the pick is that of the window before; the first full window has none before it */
        }
        if (place + 1 < w) continue;
        hashes[count] = mix(buffer[least]);
        positions[count++] = (uint32_t)(place - (right + w - least) % w);
    }
    free(buffer);
    return count;
}
