/* Finds which process groups and communicators are the same. Some ranks record NCCL's hash of a
 * communicator. On other ranks, the profiler records the name and ranks of the group, but no hash.
 * If only one group fits a communicator, and this group fits no other communicator, they are the
 * same. */
#ifndef TMERGE_JOINED_H
#define TMERGE_JOINED_H

#include "communicators.h"
#include "rank_groups.h"

/** Inputs for joining a rank's groups with communicators, and the output. */
typedef struct tm_join_with {
    /* vector of tm_membership, sorted: all memberships that ranks of the job recorded */
    const tm_vec *members;
    /* vector from tm_joins_list_reported: ranks that recorded communicators */
    const tm_vec *reported;
    int64_t world_size; /* number of ranks of the job */
    int process;        /* process that holds the rank */
    /* vector of tm_membership: memberships of this rank, and of other ranks of its groups if they
     * recorded no communicators, are appended */
    tm_vec *own;
} tm_join_with;

/** Lists the ranks that recorded communicators, ascending. Returns false if out of memory. */
bool tm_joins_list_reported(const tm_vec *members, tm_vec *out);

/**
 * Compares the groups of a rank that recorded no communicators with the communicators that other
 * ranks recorded. If a group and a communicator are found to be the same, the rank gets the
 * communicator, and the kernels of the group get the communicator's name.
 *
 * A group and a communicator of the same size fit if all of these conditions hold:
 * - Kernels used both of them.
 * - Each member whose place in the communicator was recorded has the same place in the group's list
 *   of ranks.
 * - No other rank of this list recorded communicators.
 *
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_groups_join(const tm_join_with *with, tm_timeline *timeline, tm_names *names,
                         tm_error *err) TM_MUST_CHECK;

#endif
