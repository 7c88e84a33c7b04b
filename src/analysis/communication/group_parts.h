/* Internal tables of analysis `groups`, written by the process that has all operations of a group.
 */
#ifndef TMERGE_GROUP_PARTS_H
#define TMERGE_GROUP_PARTS_H

#include "timeline/collectives.h"
#include "tmerge/table.h"

/** Columns of groups.part: a row per process group. */
enum {
    TM_GP_ID,
    TM_GP_GROUP,
    TM_GP_DESCRIPTION_ID,
    TM_GP_DESCRIPTION,
    TM_GP_DIMENSION,
    TM_GP_RANKS,
    TM_GP_COMPLETE,
    TM_GP_INCOMPLETE,
    TM_GP_SUSPECT,
    TM_GP_BYTES,
    TM_GP_COMM,
    TM_GP_WAIT,
    TM_GP_TRANSFER,
    TM_GP_BUSBW,
    TM_GP_LATENCY,
    TM_GP_BANDWIDTH,
    TM_GP_SLOW,
    TM_GP_PAIRS_ONLY,
    TM_N_GP
};

/** Columns of groups.class: a row per process group, pair of ranks, kind and size class. */
enum {
    TM_GC_ID,
    TM_GC_FROM,
    TM_GC_TO,
    TM_GC_KIND,
    TM_GC_SIZE_CLASS,
    TM_GC_COUNT,
    TM_GC_BYTES,
    TM_GC_TIME,
    TM_GC_BUSBW,
    TM_GC_FIT,
    TM_N_GC
};

extern const tm_table_def tm_group_part_def;
extern const tm_table_def tm_group_class_def;

/** Minimum size of an operation that counts for a group's bandwidth [bytes]. */
#define TM_LARGE_BYTES (INT64_C(1) << 20)

/** An operation is slow only if it exceeds the usual time by at least this [ns], the precision of
 * clocks. */
#define TM_SLOW_NS 10000

/**
 * Adds the rows of the groups that this process owns to both tables.
 *
 * @param own  operations of this process; sorted by this function
 * @return     TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_group_parts_add(const tm_collectives *own, tm_tables *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
