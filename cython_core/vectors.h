/* Tells whether this processor has the vector instructions that the loops of the core use. The compiler must know them
 * too: gcc or clang for x86-64 (clang also defines __GNUC__). */
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PORTABLE)
#include <cpuid.h>
#include <immintrin.h>
#define VECTORS
#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

/* Clang before version 18 does not compile __builtin_cpu_supports("lzcnt"). */
static inline int has_lzcnt(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx >> 5 & 1);
}

static inline int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && has_lzcnt();
}
#else
static inline int has_avx2(void) { return 0; }
#endif
