/* What a device ran, where XLA or TensorFlow tells more of it: with its own time, and with FLOP and
 * bytes where they are its own. */
#ifndef TMERGE_XLA_OPS_H
#define TMERGE_XLA_OPS_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** What an event of TM_ATTR_XLA is. */
typedef enum tm_xla_part {
    TM_XLA_WHOLE, /* an operation that runs from its begin to its end */
    TM_XLA_HOLDS, /* others run in it: a loop, a call, a branch */
    TM_XLA_START, /* only starts what is asynchronous, and */
    TM_XLA_DONE,  /* waits for it: time in which the device does nothing else, and */
    TM_XLA_ASYNC, /* the same from start to end, beside what the device runs: no time of its own */
} tm_xla_part;

typedef struct tm_xla_op {
    const tm_xla_attr *attr; /* borrowed of the timeline */
    int64_t self_ns;         /* its duration without the operations that lie in it */
    int64_t flop, bytes;     /* that it adds to sums: 0 where others have them (what holds, what
                                waits); -1 where nothing tells them */
    uint8_t part;            /* tm_xla_part */
} tm_xla_op;

/**
 * Finds the operations of a rank's device, none where its traces are not of XLA or TensorFlow. Of a
 * device that runs one after the other (a TPU's core), self_ns sum to the time in which it ran any.
 * @param out  of tm_xla_op, ascending in row; freed by the caller whatever comes of the call
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_ops_find(const tm_timeline *timeline, const tm_names *names, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

#endif
