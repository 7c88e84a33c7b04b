/* The operations that join ranks, as those that hold their members want to know them. */
#ifndef TMERGE_REPLAY_JOINS_H
#define TMERGE_REPLAY_JOINS_H

#include "build.h"
#include "timeline/collectives.h"

/** A member of an operation that joins ranks. Those of one group come together on one process,
 * whoever matched them. Sent as bytes. */
typedef struct tm_join_member {
    uint64_t group;
    uint64_t operation; /* as in tm_replay_visit */
    int64_t bytes;      /* of the operation's first member */
    int64_t rank;
    int64_t last_ns, end_ns; /* since the root */
    uint32_t event;
    int32_t origin;
    uint8_t kind;
    bool incomplete; /* the operation lacks ranks */
} tm_join_member;

/**
 * Adds the members of the operations that this process matched and that join ranks.
 *
 * @param base  what times count from
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_joins_members(const tm_collectives *collectives, const tm_timebase *base,
                           tm_vec *members, tm_error *err) TM_MUST_CHECK;

/**
 * Adds a tm_replay_visit for each member, and for each rank of a group that an operation lacks.
 * What is usual of a transfer is the median over the operations of its kind, group and size.
 *
 * @param members  of tm_join_member, all of each group; sorted
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_joins_visits(tm_vec *members, tm_vec *visits, tm_error *err) TM_MUST_CHECK;

/** Sorts visits by rank and event, and those without one by the end of the others. */
void tm_joins_sort(tm_vec *visits);

#endif
