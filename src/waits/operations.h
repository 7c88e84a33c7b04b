/* Computes the times and waits of matched operations for the tables, and finds the operations with
 * the largest waits. */
#ifndef TMERGE_OPERATIONS_H
#define TMERGE_OPERATIONS_H

#include "timeline/collectives.h"

/** Appends a tm_instance_value for each operation. TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_operation_values(const tm_collectives *collectives, tm_vec *values,
                              tm_error *err) TM_MUST_CHECK;

/** Key by which operations are sorted: first by the sum of the members' waits, the largest first,
 * then by start, then by rank and event of the first kernel. Keys are sent as bytes. */
typedef struct tm_worst_key {
    int64_t wait_ns; /* -1: no operation */
    int64_t begin_ns, rank, event;
} tm_worst_key;

enum { TM_WORST_MAX = 100 }; /* number of operations whose arrivals are kept */

/**
 * Finds the TM_WORST_MAX operations of this process with the largest waits, in order. If there are
 * fewer operations, wait_ns of the remaining elements is -1.
 * @return  TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_worst_find(const tm_collectives *collectives, tm_worst_key out[TM_WORST_MAX],
                        tm_error *err) TM_MUST_CHECK;

/**
 * Finds the job's operations with the largest waits, and keeps the ones that this process matched.
 *
 * @param all          [n] keys of all processes, in any order; this function sorts them
 * @param collectives  operations matched by this process; `worst` gets a tm_worst for each
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_worst_keep(tm_worst_key *all, size_t n, tm_collectives *collectives,
                        tm_error *err) TM_MUST_CHECK;

#endif
