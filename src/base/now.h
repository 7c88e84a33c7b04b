/* Monotonic clock for measuring elapsed time. */
#ifndef TMERGE_NOW_H
#define TMERGE_NOW_H

#include <stdint.h>
#include <time.h>

/** Returns CLOCK_MONOTONIC [ns], which never jumps. */
static inline int64_t tm_now_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
