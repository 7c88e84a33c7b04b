/* Summing what ranks did by themselves: works.h. */
#ifndef TMERGE_REPLAY_WORKS_SUM_H
#define TMERGE_REPLAY_WORKS_SUM_H

#include "peers.h"
#include "works.h"

/** Which steps there are, and in how many parts each is summed. */
typedef struct tm_works_shape {
    size_t n_steps, n_parts;
    uint8_t step_at[TM_PLACE_STEPS + 1]; /* by tm_place_step: which of the steps */
} tm_works_shape;

static inline size_t tm_works_rows(const tm_works_shape *shape) {
    return shape->n_steps * shape->n_parts;
}

/** Adds the steps of places. @param steps  bits by tm_place_step */
void tm_works_steps(const tm_peer_places *places, uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

/** The shape that these steps make: as many parts as make about 64 rows. */
tm_works_shape tm_works_shape_of(const uint64_t steps[(TM_PLACE_STEPS + 1) / 64]);

/** What is summed, of which ranks. */
typedef struct tm_works_of {
    const tm_works_shape *shape;
    const tm_peer_places *places; /* with what is known of the others */
    int64_t n_peers;              /* ranks of the role, this one among them */
    bool calls;                   /* the medians of calls, too */
    int64_t *apart_ns;            /* of devices' work, what not all ranks have is added to this */
} tm_works_of;

/** Adds a rank's sums. @param out  [TM_N_WORKS][rows]; that of calls is left */
void tm_works_add(const tm_works_of *of, const tm_peer_items *items, int64_t *out);

/** The medians of a rank's calls. False when memory is out. @param out  likewise; the others are
 * left
 */
bool tm_works_calls(const tm_works_of *of, const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;

/** Adds those of the ranks of a crew. @param out  [crew->n] sums of each */
void tm_works_add_crew(const tm_works_of *of, const tm_crew *crew, int64_t *const *out);
bool tm_works_crew_calls(const tm_works_of *of, const tm_crew *crew,
                         int64_t *const *out) TM_MUST_CHECK;

#endif
