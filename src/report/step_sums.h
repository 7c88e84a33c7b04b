/* The steps of a job. Each step has sums over its ranks. */
#ifndef TMERGE_REPORT_STEP_SUMS_H
#define TMERGE_REPORT_STEP_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

typedef struct tm_step_sums {
    tm_vec steps; /* vector of tm_step_sum, ascending by number */
} tm_step_sums;

/** Median, minimum and maximum of the time of a step. The time of a step is its mean over ranks.
 * Partly recorded steps do not count. */
typedef struct tm_step_time {
    bool known;
    double median_ns, least_ns, most_ns;
} tm_step_time;

/**
 * Reads a result table. If the store lacks the table, because an older tmerge wrote the store, the
 * table stays empty.
 *
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_page_read_table(const tm_store *store, tm_table *table, tm_error *err) TM_MUST_CHECK;

/** Reads overlap.step, overview.step and whatif.step.
 * @param tables  definitions without rows; empty again on return
 * @param out     freed by tm_step_sums_free, also after a failure
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_step_sums_make(const tm_store *store, const tm_tables *tables, tm_step_sums *out,
                            tm_error *err) TM_MUST_CHECK;
void tm_step_sums_free(tm_step_sums *sums);

/**
 * Appends the numbers of the steps. Returns false when out of memory.
 *
 * @param out  vector of int64_t
 */
bool tm_step_sums_numbers(const tm_step_sums *sums, tm_vec *out);

/**
 * Splits the steps into @p n stretches of equally many steps. Appends the number of the longest
 * step of each stretch. Returns false when out of memory.
 *
 * @param out  vector of int64_t
 */
bool tm_step_sums_longest(const tm_step_sums *sums, size_t n, tm_vec *out);

bool tm_step_sums_time(const tm_step_sums *sums, tm_step_time *out);

#endif
