/* The vector loop under canonical_text.pyx: ASCII letters and digits, 16 characters at a time. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vectors.h"

/* A place in an ASCII text, and what has been made of the text up to there. */
typedef struct {
    const uint8_t *text;
    ptrdiff_t at, stop;
    uint8_t *chars; /* the canonical characters, and room for as many as the text has */
    ptrdiff_t length;
    uint32_t *words; /* where words start in chars, and room for half as many and SPARE_WORDS */
    ptrdiff_t word_count;
    int in_word; /* whether the last character was kept */
} AsciiText;

#define SPARE_WORDS 8

/* For each choice of 8 bytes, the shuffle that moves them to the front. */
static uint8_t to_front[256][8];

static void prepare_ascii(void) {
    for (int kept = 0; kept < 256; kept++)
        for (int from = 0, to = 0; from < 8; from++)
            if (kept >> from & 1) to_front[kept][to++] = (uint8_t)from;
}

#ifdef VECTORS
/* Which bytes lie between two others; ASCII, so that a signed comparison will do. */
AVX2 static inline __m128i between(__m128i bytes, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
                         _mm_cmpgt_epi8(_mm_set1_epi8((char)(last + 1)), bytes));
}

AVX2 static inline void put_kept(AsciiText *in, __m128i chars, unsigned kept) {
    const __m128i order = _mm_loadl_epi64((const __m128i *)to_front[kept]);
    _mm_storel_epi64((__m128i *)(in->chars + in->length), _mm_shuffle_epi8(chars, order));
    in->length += __builtin_popcount(kept);
}

/* As far as there are 16 characters; the last few are left. What is written past the kept characters and the words that
 * start is written over: nearly every 16 characters have at most four words, and no branch asks how many. */
AVX2 static void read_ascii_avx2(AsciiText *ascii) {
    AsciiText in = *ascii;
    for (; in.at + 16 <= in.stop; in.at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(in.text + in.at));
        const __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        const __m128i letters = between(small, 'a', 'z');
        const unsigned kept = (unsigned)_mm_movemask_epi8(_mm_or_si128(letters, between(bytes, '0', '9')));
        const __m128i chars = _mm_blendv_epi8(bytes, small, letters);
        const unsigned starts = kept & ~(kept << 1 | (unsigned)in.in_word);
        unsigned places = _pext_u32(starts, kept);
        uint32_t *word = in.words + in.word_count;
        for (int i = 0; i < 4; i++, places &= places - 1)
            word[i] = (uint32_t)(in.length + (ptrdiff_t)_tzcnt_u32(places));
        for (word += 4; places; places &= places - 1)
            *word++ = (uint32_t)(in.length + (ptrdiff_t)_tzcnt_u32(places));
        in.word_count += __builtin_popcount(starts);
        in.in_word = kept >> 15;
        put_kept(&in, chars, kept & 0xFF);
        put_kept(&in, _mm_unpackhi_epi64(chars, chars), kept >> 8);
    }
    *ascii = in;
}
#else
static void read_ascii_avx2(AsciiText *ascii) { (void)ascii; } /* never called: has_avx2() says no */
#endif
