/* Process groups: finds the ranks of a communication kernel's group. All members of a group get the
 * same id. */
#ifndef TMERGE_RANK_GROUPS_H
#define TMERGE_RANK_GROUPS_H

#include "timeline/collectives.h"
#include "tmerge/names.h"

/** A process group as seen by one rank. */
typedef struct tm_group {
    uint64_t id; /* hash of the group's sorted ranks and its name; equal on all members */
    int32_t n_ranks;
    bool known;                   /* the group's ranks are known and include this rank */
    char text[TM_GROUP_TEXT_MAX]; /* name of the group, or its ranks as a list ("0-7") if it has no
                                     name; terminated */
} tm_group;

typedef struct tm_group_finder tm_group_finder;
struct tm_rank_list;

/**
 * Creates a finder of groups, for all ranks of a process.
 * @param names       texts of the timelines; borrowed; no name may be added while the finder exists
 * @param world_size  number of ranks of the job
 */
tm_status tm_group_finder_create(const tm_names *names, int64_t world_size, tm_group_finder **out,
                                 tm_error *err) TM_MUST_CHECK;
void tm_group_finder_destroy(tm_group_finder *finder);

/** Sets the rank whose groups are found from now on, and reads pg_config in its metadata.
 * @param timeline  borrowed until the next rank */
tm_status tm_group_finder_enter(tm_group_finder *finder, const tm_timeline *timeline,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Finds the group of a kernel with metadata. The ranks of the group come from the first of these
 * sources that has them:
 * - `Process Group Ranks`, which the profiler truncates after 30 ranks
 * - pg_config
 * - start and stride of the operator that issued the kernel
 * - the size of the group, if it is the size of the job
 *
 * If no source has the ranks, the group is identified by its name and size. Another group may have
 * the same name and size, so the kernels of such a group are not matched.
 *
 * @param attr  the kernel's attribute row
 * @param out   set only on TM_OK
 */
tm_status tm_group_find(tm_group_finder *finder, const tm_collective_attr *attr, tm_group *out,
                        tm_error *err) TM_MUST_CHECK;

/** Finds the ranks of a kernel's group as tm_group_find does.
 * @param out  set to the ranks, or to NULL if unknown; borrowed until the next call
 * @return     TM_OK; TM_ERR_FAULT */
tm_status tm_group_ranks(tm_group_finder *finder, const tm_collective_attr *attr,
                         const struct tm_rank_list **out, tm_error *err) TM_MUST_CHECK;

/** Returns a group without a name that has the given ranks, [n >= 1] ascending. */
tm_group tm_group_of_ranks(const int64_t *ranks, size_t n);

#endif
