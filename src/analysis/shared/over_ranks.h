/* Aggregates rows of all ranks that share a key: sums, and differences between ranks. */
#ifndef TMERGE_OVER_RANKS_H
#define TMERGE_OVER_RANKS_H

#include "tmerge/table.h"

/** Statistics of one column over the ranks that have a value. */
typedef struct tm_over_ranks {
    int64_t ranks; /* number of ranks with a value; if it is 0, all other members are 0 */
    int64_t sum, min, median, max;
    int64_t max_rank; /* rank with the maximum, the lowest in a tie */
} tm_over_ranks;

/** Returns the end of the rows that equal row @p first in the n_merged leading keys. */
size_t tm_over_ranks_end(const tm_table *part, size_t first);

/** Returns the sum of a column of non-negative values over rows [first, end). Nulls count as 0. The
 * sum saturates at INT64_MAX. */
int64_t tm_over_ranks_sum(const tm_table *part, size_t first, size_t end, int column);

/**
 * Aggregates one column of rows [first, end), which hold one row per rank in ascending order. The
 * rank is the column after the n_merged keys.
 *
 * @param column  of non-negative integers
 * @param out     set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_over_ranks_column(const tm_table *part, size_t first, size_t end, int column,
                               tm_over_ranks *out, tm_error *err) TM_MUST_CHECK;

#endif
