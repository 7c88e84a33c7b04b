/* How the processes of a job bring their numbers together: the one door out of the clock fit. */
#ifndef TMERGE_CLOCK_REDUCE_H
#define TMERGE_CLOCK_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/**
 * Reductions over all processes, in place, on integers alone: a sum of integers is the same in any
 * order. Every process makes the same calls with the same counts; all return the same status.
 */
typedef struct tm_clock_reducer {
    void *context; /* handed to all; borrowed */
    tm_status (*sum)(void *context, int64_t *values, size_t n, tm_error *err);
    tm_status (*max)(void *context, int64_t *values, size_t n, tm_error *err);
    /* Appends what each process has, in any order; of elements without padding. */
    tm_status (*gather)(void *context, const tm_vec *own, tm_vec *all, tm_error *err);
} tm_clock_reducer;

/** For one process, which has everything: values stay as they are. */
extern const tm_clock_reducer tm_clock_serial;

#endif
