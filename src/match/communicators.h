/* Which ranks a communicator has that traces tell by NCCL's hash alone: those of the job that made
 * or used it. */
#ifndef TMERGE_COMMUNICATORS_H
#define TMERGE_COMMUNICATORS_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** A rank that has a communicator. No pointers: it is sent as bytes. */
typedef struct tm_membership {
    uint64_t communicator;       /* hash of its name, or of NCCL's digits */
    uint64_t name;               /* hash of its name */
    uint64_t nccl;               /* as in tm_communicator */
    int64_t rank;                /* global */
    int32_t n_ranks, place;      /* as in tm_communicator */
    int32_t process;             /* that holds the rank; in an answer, that it goes to */
    bool used, numbered, joined; /* as in tm_communicator */
} tm_membership;

/** The membership of a rank in a communicator. */
tm_membership tm_membership_of(const tm_communicator *communicator, int64_t rank, int process,
                               const tm_names *names);

/** The end of the run of one communicator that begins at a member, of sorted ones. */
size_t tm_memberships_end(const tm_vec *members, size_t first);

/** Appends those of a timeline, which this process holds. TM_OK; TM_ERR_FAULT. */
tm_status tm_memberships_list(const tm_timeline *timeline, const tm_names *names, int process,
                              tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Puts the members of a communicator side by side, ascending in rank. */
void tm_memberships_sort(tm_vec *members);

/**
 * Addresses all members of a communicator to every process that holds one of them.
 *
 * @param members  of tm_membership: all that the communicators among them have in the job, in any
 *                 order; sorted by the call
 * @param out      of tm_membership, appended to
 * @param n_alone  how many of the communicators one rank alone uses, where nobody recorded how many
 *                 ranks it has
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_memberships_answer(tm_vec *members, tm_vec *out, size_t *n_alone,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Gives the kernels of a timeline's communicators what others have from their traces: the ranks of
 * their group as a list in `group_ranks` ("?" for those without a trace), its size, peers as global
 * ranks, and of what gathers or scatters the elements of all. Where ranks name it in several ways
 * it gets one name, and its kernels are matched by their order: the numbers of one profiler are not
 * those of another. The size is what was recorded when
 * the communicator was made; where that was before the recording, the number of ranks that used it,
 * provided that every rank of the job told its own. A group whose members contradict one another,
 * or of which that is not known, stays without ranks. A peer is known where every member's place
 * was recorded, and between two ranks.
 *
 * @param answers   of tm_membership, sorted: all members of the timeline's communicators
 * @param all_told  every rank of the job told its communicators
 * @param timeline  its communicators are freed
 * @param names     lists are interned here
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_memberships_apply(const tm_vec *answers, bool all_told, tm_timeline *timeline,
                               tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif
