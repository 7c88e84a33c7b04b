/* Clocks for the benchmarks. */
#ifndef TMERGE_BENCH_TIMING_H
#define TMERGE_BENCH_TIMING_H

#include <sys/time.h>
#include <time.h>

/** Returns the time of a monotonic clock [s]. */
static inline double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double seconds_of(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

#endif
