/* What is gone through edge by edge, or item by item, for all ranks of a crew at once: there for
 * each instruction set, as rows are (base/lanes.h). Who knows what is asked calls crew.h, peers.h
 * and sets.h instead. */
#ifndef TMERGE_REPLAY_CREW_LOOPS_H
#define TMERGE_REPLAY_CREW_LOOPS_H

#include "replay/peers.h"
#include "replay/reduce.h"
#include "replay/sets.h"

typedef struct tm_crew_loops {
    void (*times)(const tm_crew *crew, tm_crew_desk *desk);

    /** As tm_peer_weights of an item. */
    void (*weigh_item)(const tm_crew *crew, size_t item, tm_crew_row *first, tm_crew_row *second);

    /** What the others have of all items that others have. @param desk  with nothing known yet */
    void (*peers)(const tm_crew *crew, const tm_peer_places *places, tm_crew_desk *desk);

    /** As tm_crew_slack, from the last node back. @param late  [nodes] of those from which the
     * crew leads on, else INT64_MAX */
    void (*slack)(const tm_crew *crew, const tm_crew_desk *desk, tm_crew_row *late,
                  int64_t below_ns, tm_slack *out);

    /** The two tm_weigh_crew of sets.h. */
    tm_weigh_crew *weigh, *weigh_changes;
} tm_crew_loops;

/** Those of all instruction sets that this processor has, the fastest last. */
const tm_crew_loops *const *tm_crew_loops_all(size_t *n);

/** The fastest, but where others are asked for. @param asked  or NULL */
const tm_crew_loops *tm_crew_loops_of(const tm_crew_loops *asked);

#endif
