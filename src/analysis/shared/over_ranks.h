/* Merges rows of different ranks with the same key into one row, which has the sums over the ranks,
 * and how much the ranks differ. */
#ifndef TMERGE_OVER_RANKS_H
#define TMERGE_OVER_RANKS_H

#include "tmerge/names.h"
#include "tmerge/table.h"

/** Rows [first, end) of a part table, which have the same key. There is one row per rank, in the
 * order of ranks. The rank is in the column after the n_merged keys. */
typedef struct tm_rank_rows {
    const tm_table *part;
    size_t first, end;
} tm_rank_rows;

/** Statistics of a column over the ranks that have a value. */
typedef struct tm_over_ranks {
    int64_t ranks; /* number of ranks with a value; if 0, all other members are 0 */
    int64_t sum, min, median, max;
    int64_t max_rank; /* rank with the maximum; the lowest of several */
} tm_over_ranks;

/** The columns that tm_over_ranks_set sets. @p of is the name of the compared values, such as
 * "total_ns". */
#define TM_OVER_RANKS_COLUMNS(of)                                                                  \
    {"ranks", TM_INT, "", "Number of ranks that the row sums."},                                   \
        {"median_rank_ns", TM_INT, "ns",                                                           \
         "Median of the ranks' " of ", over the ranks with this row."},                            \
        {"max_rank_ns", TM_INT, "ns", "Largest " of " of a rank."}, TM_MAX_RANK_COLUMN
#define TM_MAX_RANK_COLUMN                                                                         \
    { "max_rank", TM_INT, "", "Rank with max_rank_ns; the lowest if there are several." }

/** Returns the rows whose n_merged keys equal the keys of row @p first. */
tm_rank_rows tm_rank_rows_at(const tm_table *part, size_t first);

/** Returns the first of the rows, which has the keys. */
const tm_cell *tm_rank_rows_key(const tm_rank_rows *rows);

/** Returns the sum of a column of non-negative values. Nulls count as 0. The sum saturates at
 * INT64_MAX. */
int64_t tm_over_ranks_sum(const tm_rank_rows *rows, int column);

/** Returns the sum of a column as a real, because the sum may exceed int64, as for FLOP. The column
 * has integers and no nulls. */
double tm_over_ranks_real_sum(const tm_rank_rows *rows, int column);

/**
 * Computes the statistics of a column.
 *
 * @param column  column of non-negative integers
 * @param out     set only on TM_OK
 * @return        TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_over_ranks_column(const tm_rank_rows *rows, int column, tm_over_ranks *out,
                               tm_error *err) TM_MUST_CHECK;

/** Sets four adjacent cells: number of ranks, median, maximum, and rank of the maximum. */
void tm_over_ranks_set(tm_cell *cells, const tm_over_ranks *of);

/** Sets the cells of a new row of the result table. All cells are null before the call. */
typedef tm_status tm_merge_row(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                               tm_cell *row, tm_error *err);

/** Adds a row to the result table for each key of the part table. Returns TM_OK; TM_ERR_FAULT;
 * errors of @p set. */
tm_status tm_over_ranks_merge(const tm_table_def *part, const tm_table_def *shown,
                              const tm_names *names, tm_tables *tables, tm_merge_row *set,
                              tm_error *err) TM_MUST_CHECK;

#endif
