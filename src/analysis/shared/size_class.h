/* Size classes of operations and copies: powers of two. */
#ifndef TMERGE_SIZE_CLASS_H
#define TMERGE_SIZE_CLASS_H

#include <stdint.h>

/** Returns the largest power of two that is at most @p bytes; 0 for 0; -1 for negative (unknown)
 * sizes. */
static inline int64_t tm_size_class(int64_t bytes) {
    int64_t power = 1;
    if (bytes <= 0)
        return bytes < 0 ? -1 : 0;
    while (power <= bytes / 2)
        power *= 2;
    return power;
}

#endif
