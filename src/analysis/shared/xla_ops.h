/* The operations that a device ran, from XLA or TensorFlow profiles: self time, FLOP and bytes,
 * nothing counted twice. */
#ifndef TMERGE_XLA_OPS_H
#define TMERGE_XLA_OPS_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Which part of an operation an event with TM_ATTR_XLA is. */
typedef enum tm_xla_part {
    TM_XLA_WHOLE, /* an operation that runs from begin to end */
    TM_XLA_HOLDS, /* contains other operations: a loop, call or branch */
    TM_XLA_START, /* starts an asynchronous operation */
    TM_XLA_DONE,  /* waits for an asynchronous operation; the device does nothing else */
    TM_XLA_ASYNC, /* an asynchronous operation from start to end, while the device does other work:
                     no self time */
} tm_xla_part;

typedef struct tm_xla_op {
    const tm_xla_attr *attr; /* borrowed from the timeline */
    int64_t self_ns;         /* duration of the operation without nested operations */
    int64_t flop, bytes;     /* to be summed: 0 if other events count it (containers, waits); -1 if
                                unknown */
    uint8_t part;            /* tm_xla_part */
} tm_xla_op;

/**
 * Finds the operations of a rank's device. None for other traces than XLA's or TensorFlow's. On a
 * device that runs operations one after the other (a TPU core), self_ns sums to its busy time.
 * @param out  vector of tm_xla_op, ascending by row; freed by the caller, even on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_ops_find(const tm_timeline *timeline, const tm_names *names, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

#endif
