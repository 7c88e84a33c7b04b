/* Finds the operations in which ranks wait for one another, and each rank's participations in them.
 * The participations are sent to the processes that hold the ranks. */
#ifndef TMERGE_REPLAY_JOINS_H
#define TMERGE_REPLAY_JOINS_H

#include "build_graph.h"
#include "timeline/collectives.h"

/** A member of an operation that joins ranks. One process collects the members of all operations of
 * a group, even if other processes matched some of these operations. Sent as bytes. */
typedef struct tm_join_member {
    uint64_t group;
    uint64_t operation; /* as in tm_replay_participant */
    int64_t bytes;      /* size of the operation's first member */
    int64_t rank;
    int64_t last_ns, end_ns; /* since the root */
    uint32_t event;
    int32_t origin;
    uint8_t kind;
    bool incomplete; /* the operation lacks the kernels of some ranks */
} tm_join_member;

/**
 * Appends the members of the operations that this process matched and that join ranks.
 * @param base  origin of times
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_joins_members(const tm_collectives *collectives, const tm_timebase *base,
                           tm_vec *members, tm_error *err) TM_MUST_CHECK;

/**
 * Appends a tm_replay_participant for each member. If an operation lacks the kernel of a rank of
 * the group, also appends a tm_replay_participant for this rank. The usual time of a transfer is
 * the median over operations of the same kind, group and size.
 * @param members  vector of tm_join_member, with all members of each group. The function sorts it.
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_joins_participants(tm_vec *members, tm_vec *participants, tm_error *err) TM_MUST_CHECK;

/** Sorts participations by rank and event. Those without an event come last, sorted by end_ns. */
void tm_joins_sort(tm_vec *participants);

#endif
