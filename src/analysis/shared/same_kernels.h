/* How fast a rank's kernels are beside the same ones on other ranks: of one name and one launch
 * shape, so that more work does not look like a slow GPU. */
#ifndef TMERGE_SAME_KERNELS_H
#define TMERGE_SAME_KERNELS_H

#include "base/keys.h"
#include "tmerge/table.h"

/** Internal; rows of a rank come from every process, and add up. */
extern const tm_table_def tm_same_kernels_table;

/** Where a part table has what is compared. */
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

/** Adds rows [first, end) of a part table, of one kernel and shape. False when memory is out. */
bool tm_same_kernels_add(tm_same_kernels *same, const tm_table *part, size_t first, size_t end,
                         const tm_same_kernels_columns *at);

/** Adds the rows of the sums. TM_OK; TM_ERR_FAULT. */
tm_status tm_same_kernels_put(const tm_same_kernels *same, tm_table *table,
                              tm_error *err) TM_MUST_CHECK;

/** What they say of a rank. */
typedef struct tm_same_kernels_speed {
    double speed;    /* what its kernels take on the median of the others / what they take here;
                        negative    where too few of them run elsewhere, too */
    bool all_slower; /* nearly all of them take longer */
} tm_same_kernels_speed;

tm_same_kernels_speed tm_same_kernels_of(const tm_tables *tables, int64_t rank);

#endif
