/* Speed of a rank's kernels relative to the same kernels on other ranks. Only kernels of equal name
 * and launch shape are compared, so that more work does not look like a slow GPU. */
#ifndef TMERGE_SAME_KERNELS_H
#define TMERGE_SAME_KERNELS_H

#include "base/keys.h"
#include "over_ranks.h"

/** Internal table. Every process adds rows for a rank; they add up. */
extern const tm_table_def tm_same_kernels_table;

/** Column indices of the compared values in a part table. */
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

/** Adds the rows of one kernel and shape. False if out of memory. */
bool tm_same_kernels_add(tm_same_kernels *same, const tm_rank_rows *rows,
                         const tm_same_kernels_columns *at);

/** Writes the sums as table rows. TM_OK; TM_ERR_FAULT. */
tm_status tm_same_kernels_put(const tm_same_kernels *same, tm_table *table,
                              tm_error *err) TM_MUST_CHECK;

/** A rank's speed relative to the other ranks. */
typedef struct tm_same_kernels_speed {
    double speed; /* time at the median of the other ranks / time on this rank; negative if too few
                     of its kernels run elsewhere */
    bool all_slower; /* nearly all of its kernels take longer */
} tm_same_kernels_speed;

tm_same_kernels_speed tm_same_kernels_of(const tm_tables *tables, int64_t rank);

#endif
