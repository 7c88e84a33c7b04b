/* Finds the most exposed operations: those with the most communication while their ranks computed
 * nothing. */
#ifndef TMERGE_MOST_EXPOSED_H
#define TMERGE_MOST_EXPOSED_H

#include "timeline/collectives.h"

/** The values by which operations are compared to find the most exposed ones. Keys are sent as
 * bytes. */
typedef struct tm_exposed_key {
    int64_t exposed_ns; /* sum of the members' exposed times; -1: unknown */
    int64_t longest_ns; /* largest exposed time of a member */
    /* begin_ns is the start of the operation's first kernel. begin_ns, rank and event decide the
     * order of operations that have equal exposed times. */
    int64_t begin_ns, rank, event;
    int64_t kind; /* tm_collective_kind */
} tm_exposed_key;

/** Maximum number of operations that are listed for each kind and measure. The measures are the sum
 * of the members' exposed times, and the largest exposed time. */
enum { TM_EXPOSED_MAX = 50 };

/** Returns the kind under which an operation is listed. Send and receive are one kind. */
static inline uint8_t tm_operation_kind(const tm_comm_record *members) {
    return members->way == TM_MATCH_PAIR ? TM_COLL_SENDRECV : members->kind;
}

/**
 * Finds the most exposed operations of this process.
 * @param out  vector of tm_exposed_key: the keys of these operations are appended
 * @return     TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_find(const tm_collectives *collectives, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Finds the job's most exposed operations, and keeps the ones that this process matched.
 *
 * @param all          vector of tm_exposed_key: the keys of all processes, in any order; reduced to
 *                     the job's most exposed operations
 * @param collectives  operations matched by this process; `exposed` gets a tm_worst for each
 * @return             TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_keep(tm_vec *all, tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
