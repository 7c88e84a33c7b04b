/* Reads runs of decimal digits, eight at a time in one word. Private to the readers. Functions may
 * read 16 bytes from any position in a window: its padding allows it. */
#ifndef TMERGE_DIGITS_H
#define TMERGE_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "simd.h"

#if TM_SIMD
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte");

enum { TM_DIGIT_RUN_MAX = 16 };

/** A run of digits: its length and value. */
typedef struct tm_digits {
    /* number of digits, at most TM_DIGIT_RUN_MAX; more digits may follow if it is the maximum */
    unsigned n;
    uint64_t value;
} tm_digits;

/* Returns the number of digits at the start of eight bytes. (The sum sets the top bit of each byte
 * that is not a digit. Carries only change later bytes.) */
static inline unsigned tm_digits_in_word(uint64_t word) {
    uint64_t low = word ^ UINT64_C(0x3030303030303030);
    uint64_t other = ((low + UINT64_C(0x7676767676767676)) | low) & UINT64_C(0x8080808080808080);
    return other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
}

/* Returns the value of a word's first n digits, n in [1, 8]. Combines digits to pairs, pairs to
 * fours, and fours to the value. */
static inline uint64_t tm_digits_of_word(uint64_t word, unsigned n) {
    word <<= 64 - 8 * n; /* zero bytes count as leading zeros */
    word = (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) * 2561 >> 8;
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000FFFF0000FFFF)) * UINT64_C(42949672960001) >> 32;
}

#if TM_SIMD == TM_SIMD_AVX2
/* Reads a run of up to sixteen digits: moves them to the end of a register, with zeros before them,
 * and combines pairs, fours, and so on. */
static inline tm_digits tm_digits_at(const char *p) {
    static const char places[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    const __m128i tens = _mm_set1_epi16(10 | 1 << 8), hundreds = _mm_set1_epi32(100 | 1 << 16);
    const __m128i ten_thousands = _mm_set1_epi32(10000 | 1 << 16);
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    v = _mm_xor_si128(v, _mm_set1_epi8('0'));
    __m128i is = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
    unsigned n = (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(is));
    v = _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)(const void *)(places + n)));
    v = _mm_madd_epi16(_mm_maddubs_epi16(v, tens), hundreds);
    v = _mm_madd_epi16(_mm_packus_epi32(v, v), ten_thousands);
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(v);
    return (tm_digits){n, (halves & UINT32_MAX) * 100000000 + (halves >> 32)};
}
#else
static inline tm_digits tm_digits_at(const char *p) {
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t word;
    memcpy(&word, p, sizeof word);
    unsigned n = tm_digits_in_word(word);
    if (n == 0)
        return (tm_digits){0, 0};
    tm_digits found = {n, tm_digits_of_word(word, n)};
    if (n < 8)
        return found;
    memcpy(&word, p + 8, sizeof word);
    n = tm_digits_in_word(word);
    if (n > 0) {
        found.value = found.value * power[n] + tm_digits_of_word(word, n);
        found.n += n;
    }
    return found;
}
#endif

#endif
