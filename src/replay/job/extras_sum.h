/* Finds work that ranks run and their peers do not: extras.h. */
#ifndef TMERGE_REPLAY_EXTRAS_SUM_H
#define TMERGE_REPLAY_EXTRAS_SUM_H

#include "replay/job/peers.h"

/** Ranks that are compared together: a single one, or those of a batch. */
typedef struct tm_extra_ranks {
    const tm_peer_items *items; /* NULL for a batch */
    const tm_batch *batch;
    size_t index;    /* index of the single rank in its process */
    int64_t stage;   /* stage of all these ranks */
    int64_t n_peers; /* number of ranks of the stage in the job */
} tm_extra_ranks;

/** Returns the number of ranks. */
static inline size_t tm_extra_lanes(const tm_extra_ranks *ranks) {
    return ranks->items ? 1 : ranks->batch->n;
}

static inline size_t tm_extra_index(const tm_extra_ranks *ranks, size_t lane) {
    return ranks->items ? ranks->index : ranks->batch->index[lane];
}

/** A rank's own work [ns]: of events and of calls, and by tm_place_step. */
typedef struct tm_extra_sums {
    size_t index;
    int64_t stage, n_peers;
    int64_t whole[2][TM_EXTRA_STEPS]; /* in the step */
    int64_t apart[2][TM_EXTRA_STEPS]; /* at places that some rank of the role lacks */
    int64_t rare[2][TM_EXTRA_STEPS];  /* at places that most ranks lack */
} tm_extra_sums;

/** Returns whether these ranks have a place that others of their role lack. */
bool tm_extras_any(const tm_extra_ranks *ranks, const tm_peer_places *places);

/** Appends a tm_extra_sums for each rank. False when out of memory. */
bool tm_extras_sum(const tm_extra_ranks *ranks, const tm_peer_places *places,
                   tm_vec *sums) TM_MUST_CHECK;

/** Summary of a role over all ranks. Sent as bytes. */
typedef struct tm_extra_role {
    int64_t stage;
    int64_t whole_ns, rare_ns;
    int64_t unlike; /* not 0: a rank of it may be of another role */
} tm_extra_role;

/** Returns whether the role's ranks do the same work, apart from extra work of some. */
bool tm_extra_role_is_one(const tm_extra_role *role);

/** Appends for each step of a rank its total work, and its work at places that some rank lacks, to
 * be compared like weights at a place. False when out of memory.
 * @param peers  of tm_peer, appended to */
bool tm_extras_list(const tm_extra_sums *sums, int64_t origin, tm_vec *peers) TM_MUST_CHECK;

/**
 * Computes a rank's factors, and which of its steps all its peers have.
 * @param others  answers to what tm_extras_list appended, in the order of @p known
 * @param known   of uint64_t: places
 * @param whole   [TM_EXTRA_STEPS] out
 */
tm_extra_factors tm_extras_compare(const tm_extra_sums *sums, const tm_keys *known,
                                   const tm_peer_others *others, bool *whole);

/** Leaves out the first and the last recorded step if no other step has extra work: recordings of
 * other ranks may only have started later or ended earlier. Returns whether extra work remains.
 * @param first, last  tm_place_step */
bool tm_extras_trust(const tm_extra_sums *sums, unsigned first, unsigned last,
                     tm_extra_factors *factors);

/** Sets the flags of places in steps that all peers have. @param whole  of tm_extras_compare */
void tm_extras_mark(const tm_extra_ranks *ranks, const bool *whole, tm_peer_places *places);

/** Appends a row for each rank and step with work at rare places. The caller must convert the row's
 * step, which is a tm_place_step, and its rank, which is an index. False when out of memory. */
bool tm_extras_rows(const tm_extra_ranks *ranks, const tm_peer_places *places,
                    tm_vec *rows) TM_MUST_CHECK;

#endif
