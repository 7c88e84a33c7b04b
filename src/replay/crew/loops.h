/* Loops over edges or items for all ranks of a batch at once, compiled for each instruction set
 * (base/lanes.h). Callers use the functions of crew.h, peers.h and sets.h instead. */
#ifndef TMERGE_REPLAY_CREW_LOOPS_H
#define TMERGE_REPLAY_CREW_LOOPS_H

#include "replay/peers.h"
#include "replay/reduce.h"
#include "replay/sets.h"

typedef struct tm_crew_loops {
    void (*times)(const tm_crew *crew, tm_crew_desk *desk);

    /** Computes the weights of an item, as in tm_peer_weights. */
    void (*weigh_item)(const tm_crew *crew, size_t item, tm_crew_row *first, tm_crew_row *second);

    /** Sets the peer weights of all items with peers. @param desk  with nothing known yet */
    void (*peers)(const tm_crew *crew, const tm_peer_places *places, tm_crew_desk *desk);

    /** Same as tm_crew_slack, from the last node back. @param late  [nodes] latest times from other
     * ranks and steps, else INT64_MAX */
    void (*slack)(const tm_crew *crew, const tm_crew_desk *desk, tm_crew_row *late,
                  int64_t below_ns, tm_slack *out);

    /** The two tm_weigh_crew of sets.h. */
    tm_weigh_crew *weigh, *weigh_changes;
} tm_crew_loops;

/** Returns those of all instruction sets that this processor supports, the fastest last. */
const tm_crew_loops *const *tm_crew_loops_all(size_t *n);

/** Returns @p asked, or the fastest if it is NULL. */
const tm_crew_loops *tm_crew_loops_of(const tm_crew_loops *asked);

#endif
