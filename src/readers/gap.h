/* Recognises the bytes between two values of an object (a gap). Profilers write members in a few
 * orders, always with the same white space, so the same bytes nearly always lead to the same
 * member. */
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

/** The bytes from the opening brace or the end of a value to the start of the next value, including
 * that value's key. If no value follows, the gap extends to the closing brace. If all members are
 * 0, there is no gap, and it matches nothing. */
typedef struct tm_gap {
    uint32_t spare;      /* bit i is set if byte i (of the first 32) need not match */
    uint16_t spare_high; /* the same for byte 32 and the following bytes */
    uint16_t key;        /* hash of the key, because several keys may share the member M_OTHER */
    uint8_t size;
    uint8_t member; /* the member that the gap ends with: its value comes next */
    char bytes[54]; /* fewer than 48 are used; the rest pads the struct to 64 bytes */
} tm_gap;

enum { TM_GAP_MAX = 47 };

/** Returns true if the gap's bytes are at p and a value follows them without further white space.
 * Bytes after the window are zeros, which no gap contains, and the padding is longer than a gap. */
static inline bool tm_gap_is(const tm_gap *gap, const char *p) {
#if TM_SIMD == TM_SIMD_AVX2
    __m256i known = _mm256_loadu_si256((const __m256i *)(const void *)gap->bytes);
    __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)p);
    uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(known, here));
    if ((same | gap->spare) != UINT32_MAX || (unsigned char)p[gap->size] <= ' ')
        return false;
    if (__builtin_expect(gap->size < 32, true))
        return true;
    __m128i more = _mm_loadu_si128((const __m128i *)(const void *)(gap->bytes + 32));
    __m128i there = _mm_loadu_si128((const __m128i *)(const void *)(p + 32));
    return (_mm_movemask_epi8(_mm_cmpeq_epi8(more, there)) | gap->spare_high) == UINT16_MAX;
#elif TM_SIMD == TM_SIMD_SSE2
    if (gap->size == 0 || (unsigned char)p[gap->size] <= ' ')
        return false;
    uint64_t spare = gap->spare | (uint64_t)gap->spare_high << 32;
    for (unsigned at = 0; at <= gap->size; at += 16) {
        __m128i known = _mm_loadu_si128((const __m128i *)(const void *)(gap->bytes + at));
        __m128i here = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
        uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(known, here));
        if ((same | (uint32_t)(spare >> at & UINT16_MAX)) != UINT16_MAX)
            return false;
    }
    return true;
#else
    char end = gap->bytes[gap->size]; /* the brace at the end of the gap; 0: none */
    return gap->size > 0 && (unsigned char)p[gap->size] > ' ' &&
           memcmp(gap->bytes, p, gap->size) == 0 && (!end || p[gap->size] == end);
#endif
}

/** Stores a gap: the bytes from the end of a value to the next value, or the closing brace, at @p
 * value. */
static inline void tm_gap_learn(tm_gap *gap, const char *from, const char *value, int member) {
    size_t size = (size_t)(value - from), n = size + (*value == '}');
    if (n > TM_GAP_MAX || n == 0 || (unsigned char)*value <= ' ')
        return;
    memcpy(gap->bytes, from, n);
    gap->bytes[n] = '\0';
    uint64_t spare = UINT64_MAX << n;
    gap->spare = (uint32_t)spare;
    gap->spare_high = (uint16_t)(spare >> 32);
    gap->size = (uint8_t)size;
    gap->member = (uint8_t)member;
}

#endif
