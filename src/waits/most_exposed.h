/* Finds the most exposed operations: those with the most communication while their ranks computed
 * nothing. */
#ifndef TMERGE_MOST_EXPOSED_H
#define TMERGE_MOST_EXPOSED_H

#include "timeline/collectives.h"

/** Values by which the most exposed operations are found. Sent as bytes. */
typedef struct tm_exposed_key {
    int64_t exposed_ns; /* exposed time, sum over the members */
    int64_t longest_ns; /* exposed time, maximum over the members */
    /* earliest start, then rank and event of the first kernel: the order of operations with equal
     * times */
    int64_t begin_ns, rank, event;
    int64_t kind; /* tm_collective_kind */
} tm_exposed_key;

/** Number of operations that are listed for each kind and each of the two measures. */
enum { TM_EXPOSED_MAX = 50 };

/** Returns the kind under which an operation is listed; send and receive are listed as one kind. */
static inline uint8_t tm_operation_kind(const tm_comm_record *members) {
    return members->way == TM_MATCH_PAIR ? TM_COLL_SENDRECV : members->kind;
}

/**
 * Finds the most exposed operations of this process.
 * @param out  of tm_exposed_key, appended to
 * @return     TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_find(const tm_collectives *collectives, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Keeps those of the job's most exposed operations that this process matched.
 *
 * @param all          of tm_exposed_key from all processes, in any order; cut to the job's top
 * @param collectives  tm_worst are added to `exposed`
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_keep(tm_vec *all, tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
