/* Finds extra work: see extras.h. */
#ifndef TMERGE_REPLAY_EXTRAS_SUM_H
#define TMERGE_REPLAY_EXTRAS_SUM_H

#include "replay/job/peers.h"

/** Ranks whose extra work is found together: a single rank, or the ranks of a batch. */
typedef struct tm_extra_ranks {
    const tm_peer_items *items; /* items of a single rank; NULL for the ranks of a batch */
    const tm_batch *batch;
    size_t index;    /* index of the rank in its process; only for a single rank */
    int64_t stage;   /* pipeline stage of these ranks */
    int64_t n_peers; /* number of ranks in the job that have this stage */
} tm_extra_ranks;

/** Returns the number of ranks. */
static inline size_t tm_extra_lanes(const tm_extra_ranks *ranks) {
    return ranks->items ? 1 : ranks->batch->n;
}

static inline size_t tm_extra_index(const tm_extra_ranks *ranks, size_t lane) {
    return ranks->items ? ranks->index : ranks->batch->index[lane];
}

/** A rank's own work [ns]. The first index of an array is 0 for events and 1 for calls. The second
 * index is the tm_place_step of a step. */
typedef struct tm_extra_sums {
    size_t index;
    int64_t stage, n_peers;
    int64_t whole[2][TM_EXTRA_STEPS]; /* all work in the step */
    int64_t apart[2][TM_EXTRA_STEPS]; /* at places that some rank of the role lacks */
    int64_t rare[2][TM_EXTRA_STEPS];  /* at rare places */
} tm_extra_sums;

/** Returns whether these ranks have a place that another rank of their role lacks. */
bool tm_extras_any(const tm_extra_ranks *ranks, const tm_peer_places *places);

/** Appends a tm_extra_sums for each rank. False when out of memory. */
bool tm_extras_sum(const tm_extra_ranks *ranks, const tm_peer_places *places,
                   tm_vec *sums) TM_MUST_CHECK;

/** The work of the ranks of a role. Sent as bytes. */
typedef struct tm_extra_role {
    int64_t stage;
    int64_t whole_ns, rare_ns;
    int64_t unlike; /* not 0 if one of the ranks may belong to another role */
} tm_extra_role;

/** Returns whether the role's ranks do the same work, except for extra work of some ranks. */
bool tm_extra_role_is_one(const tm_extra_role *role);

/**
 * Appends two values for each step of a rank: the rank's whole work, and its work at places that
 * some rank lacks. The values are compared like weights at a place. False when out of memory.
 *
 * @param peers  vector of tm_peer: the values are appended
 */
bool tm_extras_list(const tm_extra_sums *sums, int64_t origin, tm_vec *peers) TM_MUST_CHECK;

/**
 * Computes the factors of a rank, and finds the steps of the rank that all its peers have.
 *
 * @param others  answers to the values that tm_extras_list appended; parallel to @p known
 * @param known   keys of type uint64_t: places
 * @param whole   [TM_EXTRA_STEPS] set to whether all peers have the step
 */
tm_extra_factors tm_extras_compare(const tm_extra_sums *sums, const tm_keys *known,
                                   const tm_peer_others *others, bool *whole);

/**
 * In the first and the last recorded step, work may seem to be extra because the recordings of
 * other ranks started later or ended earlier. If no other step has extra work, clears the factors
 * of these two steps. Returns whether extra work remains.
 *
 * @param first  tm_place_step of the first recorded step
 * @param last   tm_place_step of the last recorded step
 */
bool tm_extras_trust(const tm_extra_sums *sums, unsigned first, unsigned last,
                     tm_extra_factors *factors);

/**
 * Sets the flags of the places that these ranks have in steps that all peers have.
 *
 * @param whole  from tm_extras_compare
 */
void tm_extras_mark(const tm_extra_ranks *ranks, const bool *whole, tm_peer_places *places);

/** Appends a row for each rank and step with work at rare places. The caller must convert `step`,
 * which is a tm_place_step, and `rank`, which is the index of the rank in its process. False when
 * out of memory. */
bool tm_extras_rows(const tm_extra_ranks *ranks, const tm_peer_places *places,
                    tm_vec *rows) TM_MUST_CHECK;

#endif
