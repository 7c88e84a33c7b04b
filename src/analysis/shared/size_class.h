/* Sizes by which operations and copies are told apart: powers of two. */
#ifndef TMERGE_SIZE_CLASS_H
#define TMERGE_SIZE_CLASS_H

#include <stdint.h>

/** The power of two at or below @p bytes; -1 for an unknown size, 0 for none. */
static inline int64_t tm_size_class(int64_t bytes) {
    int64_t power = 1;
    if (bytes <= 0)
        return bytes < 0 ? -1 : 0;
    while (power <= bytes / 2)
        power *= 2;
    return power;
}

#endif
