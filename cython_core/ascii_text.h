/* The vector loop of canonical_text.pyx for ASCII letters and digits, 16 characters at a time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

/* A position in a text, and the canonical text made so far. */
typedef struct {
    const void *text;
    ptrdiff_t at, stop;
    void *chars;       /* canonical characters: 1 byte each, or 4 if there are offsets */
    uint32_t *offsets; /* offset of each in the text, or NULL */
    ptrdiff_t length;
    uint32_t *words; /* indices of canonical characters where words start */
    ptrdiff_t word_count;
    uint32_t before; /* canonical characters before chars[0], added to words */
    int in_word;     /* whether the last character was kept */
} AsciiText;

/* Elements that may be written past the last kept character or word, and are overwritten later. */
#define SPARE 16

/* For each subset of 8 bytes, the shuffle that moves its members to the front. */
static uint8_t to_front[256][8];

static inline void prepare_ascii(void) {
    for (int kept = 0; kept < 256; kept++)
        for (int from = 0, to = 0; from < 8; from++)
            if (kept >> from & 1) to_front[kept][to++] = (uint8_t)from;
}

#ifdef VECTORS
AVX2 static inline __m128i narrow(__m128i first, __m128i second) {
    const __m128i beyond = _mm_set1_epi16(0x80); /* stands for every character that is not ASCII */
    return _mm_packus_epi16(_mm_min_epu16(first, beyond), _mm_min_epu16(second, beyond));
}

/* Loads 16 characters of 1, 2 or 4 bytes as bytes. The top bit of a byte is set if the character is not ASCII. */
AVX2 static inline __m128i load_chars(const void *text, ptrdiff_t at, int width) {
    const __m128i *from = (const __m128i *)((const char *)text + at * width);
    const __m128i first = _mm_loadu_si128(from);
    if (width == 1) return first;
    const __m128i second = _mm_loadu_si128(from + 1);
    if (width == 2) return narrow(first, second);
    const __m128i third = _mm_loadu_si128(from + 2), fourth = _mm_loadu_si128(from + 3);
    return narrow(_mm_packus_epi32(first, second), _mm_packus_epi32(third, fourth));
}

/* Masks the bytes from `first` to `last`. All are ASCII, so a signed comparison is right. */
AVX2 static inline __m128i between(__m128i bytes, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
                         _mm_cmpgt_epi8(_mm_set1_epi8((char)(last + 1)), bytes));
}

/* Records the starts of words. Almost always there are at most four in 16 characters: these take no branch. */
AVX2 static inline void put_words(AsciiText *in, unsigned kept) {
    const unsigned starts = kept & ~(kept << 1 | (unsigned)in->in_word);
    unsigned places = _pext_u32(starts, kept);
    const uint32_t base = in->before + (uint32_t)in->length;
    uint32_t *word = in->words + in->word_count;
    for (int i = 0; i < 4; i++, places &= places - 1) word[i] = base + _tzcnt_u32(places);
    for (word += 4; places; places &= places - 1) *word++ = base + _tzcnt_u32(places);
    in->word_count += __builtin_popcount(starts);
    in->in_word = kept >> 15;
}

/* Moves the kept ones of the low 8 bytes to the front. */
AVX2 static inline __m128i kept_first(__m128i bytes, unsigned kept) {
    return _mm_shuffle_epi8(bytes, _mm_loadl_epi64((const __m128i *)to_front[kept]));
}

AVX2 static inline void put_chars(AsciiText *in, __m128i chars, unsigned kept, ptrdiff_t at) {
    const __m128i front = kept_first(chars, kept);
    if (in->offsets) {
        const __m128i places = kept_first(_mm_set_epi64x(0, 0x0706050403020100), kept);
        const __m256i offsets = _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32((int)at));
        _mm256_storeu_si256((__m256i *)((uint32_t *)in->chars + in->length), _mm256_cvtepu8_epi32(front));
        _mm256_storeu_si256((__m256i *)(in->offsets + in->length), offsets);
    } else {
        _mm_storel_epi64((__m128i *)((uint8_t *)in->chars + in->length), front);
    }
    in->length += __builtin_popcount(kept);
}

AVX2 static inline AsciiText read_ascii_chars(AsciiText in, int width) {
    for (; in.at + 16 <= in.stop; in.at += 16) {
        const __m128i bytes = load_chars(in.text, in.at, width);
        if (_mm_movemask_epi8(bytes)) break;
        const __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        const __m128i letters = between(small, 'a', 'z');
        const __m128i chars = _mm_blendv_epi8(bytes, small, letters);
        const unsigned kept = (unsigned)_mm_movemask_epi8(_mm_or_si128(letters, between(bytes, '0', '9')));
        put_words(&in, kept);
        put_chars(&in, chars, kept & 0xFF, in.at);
        put_chars(&in, _mm_unpackhi_epi64(chars, chars), kept >> 8, in.at + 8);
    }
    return in;
}

/* Reads while the next 16 characters are all ASCII; the caller reads the rest one by one. */
AVX2 static inline void read_ascii_avx2(AsciiText *text, int width) {
    if (width == 1) *text = read_ascii_chars(*text, 1);
    else if (width == 2) *text = read_ascii_chars(*text, 2);
    else *text = read_ascii_chars(*text, 4);
}
#else
static inline void read_ascii_avx2(AsciiText *text, int width) { (void)text, (void)width; } /* never called */
#endif
