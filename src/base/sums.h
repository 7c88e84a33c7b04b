/* Numbers that stop at the ends of their type: a trace may say anything, and nothing may overflow.
 */
#ifndef TMERGE_SUMS_H
#define TMERGE_SUMS_H

#include <stdint.h>

/** a + b, or the end of int64 that lies beyond. */
static inline int64_t tm_sum(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

/** The value, or the end of the narrower type that lies before it. */
static inline int32_t tm_narrow_i32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

/** The same of a value that is not negative. */
static inline uint32_t tm_narrow_u32(int64_t value) {
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

#endif
