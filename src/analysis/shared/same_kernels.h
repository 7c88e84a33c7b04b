/* Speed of a rank's kernels relative to the same kernels on other ranks. Only kernels with equal
 * names and launch shapes are compared, so that more work does not look like a slow GPU. */
#ifndef TMERGE_SAME_KERNELS_H
#define TMERGE_SAME_KERNELS_H

#include "base/keys.h"
#include "over_ranks.h"

/** Internal table. Each process adds rows for a rank, and the rows of a rank are summed. */
extern const tm_table_def tm_same_kernels_table;

/** Indices of the columns to read in a part table. */
typedef struct tm_same_kernels_columns {
    int rank, grid, calls, total, communication;
} tm_same_kernels_columns;

/** Sums by rank. */
typedef struct tm_same_kernels {
    tm_keys ranks;
    tm_vec sums, means;
} tm_same_kernels;

void tm_same_kernels_init(tm_same_kernels *same);
void tm_same_kernels_free(tm_same_kernels *same);

/** Adds the rows of a kernel with a shape. Returns false if out of memory. */
bool tm_same_kernels_add(tm_same_kernels *same, const tm_rank_rows *rows,
                         const tm_same_kernels_columns *at);

/** Writes the sums as rows of the table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_same_kernels_put(const tm_same_kernels *same, tm_table *table,
                              tm_error *err) TM_MUST_CHECK;

/** A rank's speed relative to the other ranks. */
typedef struct tm_same_kernels_speed {
    /* time that the rank's kernels would take with the other ranks' medians / their time on this
     * rank; negative if other ranks run too few of these kernels */
    double speed;
    /* whether nearly all of the rank's kernels take longer than on the other ranks */
    bool all_slower;
} tm_same_kernels_speed;

tm_same_kernels_speed tm_same_kernels_of(const tm_tables *tables, int64_t rank);

#endif
