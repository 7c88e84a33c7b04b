/* Sums that stop at the ends of int64: a trace may say anything, and no sum may overflow. */
#ifndef TMERGE_SUMS_H
#define TMERGE_SUMS_H

#include <stdint.h>

/** a + b, or the end of int64 that lies beyond. */
static inline int64_t tm_sum(int64_t a, int64_t b) {
    if (b > 0)
        return a > INT64_MAX - b ? INT64_MAX : a + b;
    return a < INT64_MIN - b ? INT64_MIN : a + b;
}

#endif
