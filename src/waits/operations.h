/* What the tables need of matched operations: their times and waits, and which waited most. */
#ifndef TMERGE_OPERATIONS_H
#define TMERGE_OPERATIONS_H

#include "timeline/collectives.h"

/** Adds a tm_instance_value for each operation. TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_operation_values(const tm_collectives *collectives, tm_vec *values,
                              tm_error *err) TM_MUST_CHECK;

/** What orders the operations with the most wait: that of all members, then the earlier, then its
 * first kernel. Sent as bytes. */
typedef struct tm_worst_key {
    int64_t wait_ns; /* -1: none */
    int64_t begin_ns, rank, event;
} tm_worst_key;

enum { TM_WORST_MAX = 100 }; /* operations whose arrivals are kept one by one */

/**
 * The operations of this process that waited most, in order; the rest has wait -1.
 * @return  TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_worst_find(const tm_collectives *collectives, tm_worst_key out[TM_WORST_MAX],
                        tm_error *err) TM_MUST_CHECK;

/**
 * Keeps those of the job's worst that this process matched.
 *
 * @param all          [n] of all processes, any order; sorted
 * @param collectives  tm_worst are added to `worst`
 * @return             TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_worst_keep(tm_worst_key *all, size_t n, tm_collectives *collectives,
                        tm_error *err) TM_MUST_CHECK;

#endif
