/* What is made of the rows of all ranks that have one key: sums, and how far the ranks differ. */
#ifndef TMERGE_OVER_RANKS_H
#define TMERGE_OVER_RANKS_H

#include "tmerge/table.h"

/** One column over the ranks that have a value in it. */
typedef struct tm_over_ranks {
    int64_t ranks; /* 0: no rank has a value, the others are 0 then */
    int64_t sum, min, median, max;
    int64_t max_rank; /* that has the largest, the lowest of equals */
} tm_over_ranks;

/** Behind the last row that is equal to row @p first in the n_merged leading keys. */
size_t tm_over_ranks_end(const tm_table *part, size_t first);

/** The sum of a column over rows [first, end), none below 0; nulls count as 0. Sums stop at
 * INT64_MAX. */
int64_t tm_over_ranks_sum(const tm_table *part, size_t first, size_t end, int column);

/**
 * One column of rows [first, end), which are ascending in their rank, one row for each: the rank is
 * the column behind those of n_merged.
 *
 * @param column  of integers that are not below 0
 * @param out     set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_over_ranks_column(const tm_table *part, size_t first, size_t end, int column,
                               tm_over_ranks *out, tm_error *err) TM_MUST_CHECK;

#endif
