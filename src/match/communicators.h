/* Ranks of communicators that traces identify only by NCCL's hash. The ranks of a communicator are
 * those that created or used it. */
#ifndef TMERGE_COMMUNICATORS_H
#define TMERGE_COMMUNICATORS_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** A rank of a communicator. Has no pointers, so that it can be sent. */
typedef struct tm_membership {
    /* hash of the communicator's name, or of NCCL's hash as text */
    uint64_t communicator;
    uint64_t name;          /* hash of the communicator's name */
    uint64_t nccl;          /* as in tm_communicator */
    int64_t rank;           /* rank in the job */
    int32_t n_ranks, place; /* as in tm_communicator */
    int32_t process;        /* process that holds the rank; in an answer, the process to which the
                               answer is sent */
    bool used, numbered, joined; /* as in tm_communicator */
} tm_membership;

/** Returns the membership of a rank in a communicator. */
tm_membership tm_membership_of(const tm_communicator *communicator, int64_t rank, int process,
                               const tm_names *names);

/** The members must be sorted. Returns the index after the last member of the same communicator as
 * member @p first. */
size_t tm_memberships_end(const tm_vec *members, size_t first);

/** Appends the memberships of a timeline held by this process. @return TM_OK; TM_ERR_FAULT */
tm_status tm_memberships_list(const tm_timeline *timeline, const tm_names *names, int process,
                              tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Sorts by communicator, then by ascending rank. */
void tm_memberships_sort(tm_vec *members);

/**
 * Answers each process that holds members of a communicator. The answer is a copy of all members of
 * the communicator, with `process` set to the process that gets the answer.
 *
 * @param members  vector of tm_membership, sorted by the call: all members of some communicators
 * @param out      vector of tm_membership; the answers are appended
 * @param n_alone  set to the number of communicators that are used by a single rank and whose size
 *                 no rank recorded
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_memberships_answer(tm_vec *members, tm_vec *out, size_t *n_alone,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Completes the kernels of a timeline's communicators with data from the traces of other ranks:
 * - the ranks of the group, as a list in `group_ranks` ("?" stands for a rank without a trace)
 * - the size of the group
 * - peers, as ranks of the job
 * - the total number of elements of gathers and scatters
 *
 * Ranks may use different names for a communicator, because they have different profilers. Such
 * profilers also number operations differently. So the communicator gets one name, and its kernels
 * are matched by order.
 *
 * The size of a communicator is recorded when it is created. If it was created before the
 * recording, the size is the number of ranks that used it, provided that every rank of the job
 * reported its communicators. A group stays without ranks if its size is unknown or its members
 * contradict each other. A peer is known if the place of every member was recorded, or if the group
 * has two ranks.
 *
 * @param answers       vector of tm_membership, sorted: all members of the timeline's communicators
 * @param all_reported  whether every rank of the job reported its communicators
 * @param timeline      the call completes its kernels and frees its communicators
 * @param names         lists are interned here
 * @return              TM_OK; TM_ERR_FAULT
 */
tm_status tm_memberships_apply(const tm_vec *answers, bool all_reported, tm_timeline *timeline,
                               tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif
