/* Communicators that some ranks of a job tell by NCCL's hash, and process groups that others, whose
 * profiler knows no hash, tell by name and ranks: where a communicator can be one group alone, and
 * this no other, they are one. */
#ifndef TMERGE_JOINED_H
#define TMERGE_JOINED_H

#include "communicators.h"
#include "groups.h"

/** What the groups of a rank are joined with, and where what it tells then goes. */
typedef struct tm_join_with {
    const tm_vec *members; /* of tm_membership, sorted: all that the job's ranks tell */
    const tm_vec *told;    /* of int64_t, by tm_joins_list_told: whose they are */
    int64_t world_size;    /* ranks of the job */
    int process;           /* that holds the rank */
    tm_vec *own;           /* of tm_membership, appended to: the rank's, and those of the other
                              ranks of its groups that told nothing */
} tm_join_with;

/** Lists the ranks that told communicators, ascending. False when memory is out. */
bool tm_joins_list_told(const tm_vec *members, tm_vec *out);

/**
 * Joins the groups of a rank that tells no communicators with those that others tell: from then on
 * it has them as communicators, and its kernels their names.
 *
 * A group can be a communicator of its size where each member that told its place stands there in
 * the list of the group's ranks, no other rank of the list told any communicators, and both are
 * used.  @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_groups_join(const tm_join_with *with, tm_timeline *timeline, tm_names *names,
                         tm_error *err) TM_MUST_CHECK;

#endif
