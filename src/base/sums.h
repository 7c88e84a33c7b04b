/* Saturating arithmetic: traces may contain any number, and nothing may overflow. */
#ifndef TMERGE_SUMS_H
#define TMERGE_SUMS_H

#include <stdint.h>

/** Returns a + b, or the limit of int64 that it exceeds. */
static inline int64_t tm_sum(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

/** Returns the value, or the limit of the narrower type that it exceeds. */
static inline int32_t tm_narrow_i32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

/** Converts a value that is not negative to 32 bits; values above the range give UINT32_MAX. */
static inline uint32_t tm_narrow_u32(int64_t value) {
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

#endif
