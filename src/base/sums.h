/* Sums that stop at the largest number: a trace may say anything, and no sum may overflow. */
#ifndef TMERGE_SUMS_H
#define TMERGE_SUMS_H

#include <stdint.h>

/** sum + more, neither below 0; INT64_MAX where that is less. */
static inline int64_t tm_sum(int64_t sum, int64_t more) {
    return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

#endif
