/* Process groups: which ranks a communication kernel's group has, told the same way on every
 * rank. */
#ifndef TMERGE_GROUPS_H
#define TMERGE_GROUPS_H

#include "timeline/collectives.h"
#include "tmerge/names.h"

/** A process group as one rank sees it. */
typedef struct tm_group {
    uint64_t id; /* of its sorted ranks and its name; equal on all members */
    int32_t n_ranks;
    bool known;                   /* its ranks are, and this one is among them */
    char text[TM_GROUP_TEXT_MAX]; /* its name, else its ranks as a list ("0-7"); terminated */
} tm_group;

typedef struct tm_group_finder tm_group_finder;
struct tm_rank_list;

/**
 * Prepares to find groups of many ranks, which share what lists of ranks tell.
 * @param names       the texts of their timelines; borrowed, none is added before it is destroyed
 * @param world_size  ranks of the job
 */
tm_status tm_group_finder_create(const tm_names *names, int64_t world_size, tm_group_finder **out,
                                 tm_error *err) TM_MUST_CHECK;
void tm_group_finder_destroy(tm_group_finder *finder);

/** Goes on to a rank, whose groups are found from now on; its metadata's pg_config is read once.
 * @param timeline  borrowed until the next rank */
tm_status tm_group_finder_enter(tm_group_finder *finder, const tm_timeline *timeline,
                                tm_error *err) TM_MUST_CHECK;

/**
 * The group of a kernel that carries metadata. Its ranks come from `Process Group Ranks`; where the
 * profiler cut that list (over 30), from pg_config, else from start and stride of the operator that
 * asked for it, else from its size where that is the job's. Where nothing tells them, name and size
 * stand for them, which other groups may share: such a group is not known, and not to be matched.
 *
 * @param attr  the kernel's attribute row
 * @param out   set only on TM_OK
 */
tm_status tm_group_find(tm_group_finder *finder, const tm_collective_attr *attr, tm_group *out,
                        tm_error *err) TM_MUST_CHECK;

/** The ranks of a kernel's group, told as there; NULL where nothing tells them. Borrowed until the
 * next call. TM_OK; TM_ERR_FAULT. */
tm_status tm_group_ranks(tm_group_finder *finder, const tm_collective_attr *attr,
                         const struct tm_rank_list **out, tm_error *err) TM_MUST_CHECK;

/** The group of some ranks, [n >= 1] ascending, that has no name. */
tm_group tm_group_of_ranks(const int64_t *ranks, size_t n);

#endif
