/* What stands between two values of an object, known again: profilers write the members of their
 * objects in few orders and always with the same white space, so the same bytes lead to the same
 * member nearly always. */
#ifndef TMERGE_GAP_H
#define TMERGE_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

#if TM_SIMD
#include <immintrin.h>
#endif

/** From the comma or the opening brace, over the key, to the value. */
typedef struct tm_gap {
    char bytes[64];
    uint8_t size;   /* 0: nothing is known yet */
    uint8_t member; /* whose value follows */
} tm_gap;

/** True where the gap's bytes stand at p and a value follows them without more white space. What
 * lies behind the window reads as zeros, which no gap holds, and the padding is longer than a gap.
 */
static inline bool tm_gap_is(const tm_gap *gap, const char *p) {
    if (gap->size == 0 || (unsigned char)p[gap->size] <= ' ')
        return false;
#if TM_SIMD == TM_SIMD_AVX2
    const __m256i *known = (const __m256i *)(const void *)gap->bytes;
    const __m256i *here = (const __m256i *)(const void *)p;
    __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(known), _mm256_loadu_si256(here));
    __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(known + 1), _mm256_loadu_si256(here + 1));
    uint64_t same =
        (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
    return ~same << (64 - gap->size) == 0;
#elif TM_SIMD == TM_SIMD_SSE2
    for (unsigned at = 0; at < gap->size; at += 16) {
        __m128i known = _mm_loadu_si128((const __m128i *)(const void *)(gap->bytes + at));
        __m128i here = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
        uint32_t other = ~(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(known, here));
        unsigned left = gap->size - at < 16 ? gap->size - at : 16;
        if (other << (32 - left)) /* the upper half is all ones: of 32 bits the lowest count */
            return false;
    }
    return true;
#else
    return memcmp(gap->bytes, p, gap->size) == 0;
#endif
}

/** Keeps the bytes from behind a value to the next one, @p value. */
static inline void tm_gap_learn(tm_gap *gap, const char *from, const char *value, int member) {
    size_t size = (size_t)(value - from);
    if (size >= sizeof gap->bytes || (unsigned char)*value <= ' ')
        return;
    memcpy(gap->bytes, from, size);
    gap->size = (uint8_t)size;
    gap->member = (uint8_t)member;
}

#endif
