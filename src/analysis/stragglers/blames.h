/* How long every rank waited, and which waits it caused. The processes send these data to the job
 * part. */
#ifndef TMERGE_BLAMES_H
#define TMERGE_BLAMES_H

#include "timeline/collectives.h"
#include "tmerge/table.h"
#include "verdict.h"

/** Internal tables that carry waits, costs and members of groups to the job part. */
extern const tm_table_def tm_blames_part, tm_blames_cost, tm_blames_member;

/** Adds a rank's waits in a step. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_blames_add_part(tm_tables *tables, const tm_blame *blame, tm_error *err) TM_MUST_CHECK;

/** Adds the costs that this process has, and the members of its groups. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_blames_add_own(tm_tables *tables, const tm_collectives *own,
                            tm_error *err) TM_MUST_CHECK;

/** A rank, and its host or one of its process groups. */
typedef struct tm_place {
    tm_culprit level; /* TM_CULPRIT_HOST or TM_CULPRIT_GROUP */
    uint64_t unit;    /* identity of the host or group */
    size_t rank;      /* index into tm_blames.ranks */
} tm_place;

/** Returns whether two places are of the same host or group. */
static inline bool tm_places_share(const tm_place *a, const tm_place *b) {
    return a->level == b->level && a->unit == b->unit;
}

/** Input of the job part of the analysis. */
typedef struct tm_blames {
    /* [n_ranks] one per row of job.rank; owned, like all arrays of this struct */
    tm_blame *ranks;
    size_t n_ranks;
    tm_blame *parts; /* [n_parts] sorted by step, then by rank */
    size_t n_parts;
    tm_leader *leaders; /* [n_leaders] one per step with waits */
    size_t n_leaders;
    tm_place *places; /* [n_places] sorted by level (hosts first), then unit, then rank */
    size_t n_places;
    int64_t wait_ns; /* sum of the waits of all ranks */
} tm_blames;

/**
 * Reads the internal tables, which must be sorted by their keys, and job.rank.
 * @param out  the caller closes it with tm_blames_close, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_blames_open(const tm_tables *tables, tm_blames *out, tm_error *err) TM_MUST_CHECK;
void tm_blames_close(tm_blames *blames);

/** Returns the index of a rank in blames->ranks. The rank must be in job.rank. */
size_t tm_blames_index(const tm_blames *blames, int64_t rank);

#endif
