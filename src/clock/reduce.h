/* Reductions over the processes of a job: the only communication of the clock fit. */
#ifndef TMERGE_CLOCK_REDUCE_H
#define TMERGE_CLOCK_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** In-place reductions over all processes. All values are integers, so that the order of summation
 * does not matter. Every process must make the same calls with the same counts; all processes get
 * the same status. */
typedef struct tm_clock_reducer {
    void *context; /* The caller's context, which is passed to every function. Borrowed. */
    tm_status (*sum)(void *context, int64_t *values, size_t n, tm_error *err);
    tm_status (*max)(void *context, int64_t *values, size_t n, tm_error *err);
    /* Appends the elements of all processes, in any order. Elements have no padding. */
    tm_status (*gather)(void *context, const tm_vec *own, tm_vec *all, tm_error *err);
} tm_clock_reducer;

/** The reducer of a job on a single process. Its functions leave the values unchanged. */
extern const tm_clock_reducer tm_clock_serial;

#endif
