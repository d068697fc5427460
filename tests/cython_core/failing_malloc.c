/* Replaces malloc() and its relatives, when preloaded, by ones that fail on demand and count the bytes in use.
 *
 * `failing_in` is the number of allocations that succeed before one fails; below 0, none fails. With `stays`, all
 * after it fail too, until `failing_in` is set again. A caller sets these variables and reads `failures` and `in_use`. */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void __libc_free(void*);

long failing_in = -1, stays = 0, failures = 0, in_use = 0;

static int fails(void) {
    if (failing_in < 0 || failing_in-- > 0) return 0;
    failures++;
    failing_in = stays ? 0 : -1;
    errno = ENOMEM;
    return 1;
}

static void* counted(void* block) {
    if (block) in_use += (long)malloc_usable_size(block);
    return block;
}

void* malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : counted(__libc_calloc(count, size)); }

void* realloc(void* block, size_t size) {
    long before = block ? (long)malloc_usable_size(block) : 0;
    void* larger = fails() ? NULL : __libc_realloc(block, size);
    if (larger) in_use += (long)malloc_usable_size(larger) - before;
    return larger;
}

void free(void* block) {
    if (block) in_use -= (long)malloc_usable_size(block);
    __libc_free(block);
}
