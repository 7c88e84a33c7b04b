/* Finding what ranks run that their peers do not: extras.h. */
#ifndef TMERGE_REPLAY_EXTRAS_SUM_H
#define TMERGE_REPLAY_EXTRAS_SUM_H

#include "replay/peers.h"

/** Ranks that are held together: one by itself, or those of a crew. */
typedef struct tm_extra_ranks {
    const tm_peer_items *items; /* NULL: of a crew */
    const tm_crew *crew;
    size_t index;    /* which of the process's ranks the one is */
    int64_t stage;   /* of all of them */
    int64_t n_peers; /* ranks of the stage, in the job */
} tm_extra_ranks;

/** How many ranks these are. */
static inline size_t tm_extra_lanes(const tm_extra_ranks *ranks) {
    return ranks->items ? 1 : ranks->crew->n;
}

static inline size_t tm_extra_index(const tm_extra_ranks *ranks, size_t lane) {
    return ranks->items ? ranks->index : ranks->crew->index[lane];
}

/** What a rank does by itself [ns], by call and tm_place_step. */
typedef struct tm_extra_sums {
    size_t index;
    int64_t stage, n_peers;
    int64_t whole[2][TM_EXTRA_STEPS]; /* in the step */
    int64_t apart[2][TM_EXTRA_STEPS]; /* at places that not all ranks of the role have */
    int64_t rare[2][TM_EXTRA_STEPS];  /* at those that most have not */
} tm_extra_sums;

/** Whether the ranks have a place that others of their role have not. */
bool tm_extras_any(const tm_extra_ranks *ranks, const tm_peer_places *places);

/** Adds a tm_extra_sums of each. False when memory is out. */
bool tm_extras_sum(const tm_extra_ranks *ranks, const tm_peer_places *places,
                   tm_vec *sums) TM_MUST_CHECK;

/** What is known of a role, over all ranks. Sent as bytes. */
typedef struct tm_extra_role {
    int64_t stage;
    int64_t whole_ns, rare_ns;
    int64_t unlike; /* a rank of it may be of another role than the others */
} tm_extra_role;

/** Whether its ranks do the same but for what one of them does more. */
bool tm_extra_role_is_one(const tm_extra_role *role);

/** What a rank does in a step at places that not all have, to be compared as peers are; a record of
 * each step that it has. False when memory is out. @param peers  of tm_peer, appended to */
bool tm_extras_list(const tm_extra_sums *sums, int64_t origin, tm_vec *peers) TM_MUST_CHECK;

/**
 * The factors of a rank, and which of its steps all of its peers have.
 * @param others  as the answers to its tm_extras_list, at the places of @p known
 * @param known   of uint64_t: the places
 * @param whole   [TM_EXTRA_STEPS] out
 */
tm_extra_factors tm_extras_compare(const tm_extra_sums *sums, const tm_keys *known,
                                   const tm_peer_others *others, bool *whole);

/** Leaves out the first and last step recorded where no other has any: then others' recordings may
 * only have begun later or ended sooner. Returns whether there is any.
 * @param first, last  tm_place_step */
bool tm_extras_trust(const tm_extra_sums *sums, unsigned first, unsigned last,
                     tm_extra_factors *factors);

/** Sets the flags of the ranks' places, of the steps that all peers have. @param whole  as above */
void tm_extras_mark(const tm_extra_ranks *ranks, const bool *whole, tm_peer_places *places);

/** Adds a row of each rank and step that has something at rare places; step and rank are those of
 * the caller: the step is a tm_place_step, the rank an index. False when memory is out. */
bool tm_extras_rows(const tm_extra_ranks *ranks, const tm_peer_places *places,
                    tm_vec *rows) TM_MUST_CHECK;

#endif
