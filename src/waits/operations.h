/* Computes the times and waits of matched operations for the tables, and finds the worst ones. */
#ifndef TMERGE_OPERATIONS_H
#define TMERGE_OPERATIONS_H

#include "timeline/collectives.h"

/** Appends a tm_instance_value for each operation. TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_operation_values(const tm_collectives *collectives, tm_vec *values,
                              tm_error *err) TM_MUST_CHECK;

/** Values by which the operations with the largest wait are found: sum over all members, then
 * begin, then first kernel. Sent as bytes. */
typedef struct tm_worst_key {
    int64_t wait_ns; /* -1: none */
    int64_t begin_ns, rank, event;
} tm_worst_key;

enum { TM_WORST_MAX = 100 }; /* number of operations whose arrivals are kept */

/**
 * Finds the operations of this process with the largest wait, in order. If there are fewer, the
 * remaining elements have wait_ns -1.
 * @return  TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_worst_find(const tm_collectives *collectives, tm_worst_key out[TM_WORST_MAX],
                        tm_error *err) TM_MUST_CHECK;

/**
 * Keeps those of the job's worst operations that this process matched.
 *
 * @param all          [n] of all processes, in any order; sorted
 * @param collectives  tm_worst are added to `worst`
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_worst_keep(tm_worst_key *all, size_t n, tm_collectives *collectives,
                        tm_error *err) TM_MUST_CHECK;

#endif
