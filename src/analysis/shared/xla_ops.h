/* The operations that a device ran, with self time, FLOP and bytes, from profiles of XLA or
 * TensorFlow. Neither time nor work is counted twice. */
#ifndef TMERGE_XLA_OPS_H
#define TMERGE_XLA_OPS_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Parts of an operation. An event with TM_ATTR_XLA is one of them. */
typedef enum tm_xla_part {
    TM_XLA_WHOLE, /* the whole operation, from begin to end */
    TM_XLA_HOLDS, /* a loop, call or branch, which contains other operations */
    TM_XLA_START, /* the start of an asynchronous operation */
    TM_XLA_DONE,  /* the wait for an asynchronous operation; the device does nothing else */
    /* an asynchronous operation from start to end; it has no self time, because the device does
     * other work meanwhile */
    TM_XLA_ASYNC,
} tm_xla_part;

typedef struct tm_xla_op {
    const tm_xla_attr *attr; /* borrowed from the timeline */
    int64_t self_ns;         /* duration without nested operations [ns] */
    /* 0 if other events count the same work, as for containers and waits, so that sums are right;
     * -1 if unknown */
    int64_t flop, bytes;
    uint8_t part; /* tm_xla_part */
} tm_xla_op;

/**
 * Finds the operations of a rank's device. Finds none if the trace is not of XLA or TensorFlow. If
 * the device runs one operation at a time (a TPU core), the sum of self_ns is its busy time.
 * @param out  vector of tm_xla_op, ascending by row; the caller frees it, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_ops_find(const tm_timeline *timeline, const tm_names *names, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

#endif
