/* The verdict's files: what every rank waited and caused, from the processes to the job. */
#ifndef TMERGE_TOLLS_H
#define TMERGE_TOLLS_H

#include "timeline/collectives.h"
#include "tmerge/table.h"
#include "verdict.h"

/** Internal tables: tolls, costs and group members on their way to the job. */
extern const tm_table_def tm_tolls_part, tm_tolls_cost, tm_tolls_member;

/** Adds a rank's toll of one step. TM_OK; TM_ERR_FAULT. */
tm_status tm_tolls_add_part(tm_tables *tables, const tm_toll *toll, tm_error *err) TM_MUST_CHECK;

/** Adds costs and members of one process. TM_OK; TM_ERR_FAULT. */
tm_status tm_tolls_add_own(tm_tables *tables, const tm_collectives *own,
                           tm_error *err) TM_MUST_CHECK;

/** A rank's place in one host or process group. */
typedef struct tm_place {
    tm_culprit level; /* TM_CULPRIT_HOST or TM_CULPRIT_GROUP */
    uint64_t unit;    /* which host or group; equal for all its ranks */
    size_t rank;      /* index into the tolls */
} tm_place;

/** Whether two places are of one host or group. */
static inline bool tm_places_share(const tm_place *a, const tm_place *b) {
    return a->level == b->level && a->unit == b->unit;
}

/** Everything that the job's part works on. */
typedef struct tm_tolls {
    tm_toll *ranks; /* [n_ranks] one for each row of job.rank; owned, as are all */
    size_t n_ranks;
    tm_toll *parts; /* [n_parts] by step, then rank */
    size_t n_parts;
    tm_leader *leaders; /* [n_leaders] of the steps with waits */
    size_t n_leaders;
    tm_place *places; /* [n_places] by level and unit, then rank; hosts first */
    size_t n_places;
    int64_t wait_ns; /* of all ranks */
} tm_tolls;

/**
 * Reads the internal tables, sorted by their keys, and job.rank.
 * @param out  to be closed with tm_tolls_close whatever comes of it
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_tolls_open(const tm_tables *tables, tm_tolls *out, tm_error *err) TM_MUST_CHECK;
void tm_tolls_close(tm_tolls *tolls);

/** The place of a rank, which is one of job.rank, among the tolls. */
size_t tm_tolls_index(const tm_tolls *tolls, int64_t rank);

#endif
