/* Which operations were exposed most: communicated while their ranks computed nothing. */
#ifndef TMERGE_MOST_EXPOSED_H
#define TMERGE_MOST_EXPOSED_H

#include "timeline/collectives.h"

/** What orders operations by exposed time. Sent as bytes. */
typedef struct tm_exposed_key {
    int64_t exposed_ns;            /* of all members together */
    int64_t longest_ns;            /* of one member */
    int64_t begin_ns, rank, event; /* its earliest begin; its first kernel */
    int64_t kind;                  /* tm_collective_kind */
} tm_exposed_key;

/** Operations of each kind that are kept one by one, by either measure. */
enum { TM_EXPOSED_MAX = 50 };

/** The kind that an operation is listed by: of a transfer its sender and receiver differ. */
static inline uint8_t tm_operation_kind(const tm_comm_record *members) {
    return members->way == TM_MATCH_PAIR ? TM_COLL_SENDRECV : members->kind;
}

/**
 * The operations of this process that were exposed most.
 * @param out  of tm_exposed_key, appended to
 * @return     TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_exposed_find(const tm_collectives *collectives, tm_vec *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Keeps those of the job's most exposed that this process matched.
 *
 * @param all          of tm_exposed_key: those of all processes, in any order; cut to the job's
 * @param collectives  tm_worst are added to `exposed`
 * @return             TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_exposed_keep(tm_vec *all, tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
