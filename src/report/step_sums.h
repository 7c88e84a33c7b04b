/* The steps of a job, each over its ranks. */
#ifndef TMERGE_REPORT_STEP_SUMS_H
#define TMERGE_REPORT_STEP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/store.h"
#include "tmerge/table.h"

typedef struct tm_step_sums {
    tm_vec steps; /* of tm_step_sum, ascending in number */
} tm_step_sums;

/** Over steps, of the mean over ranks; steps that a rank recorded in part are left out of it. */
typedef struct tm_step_time {
    bool known;
    double median_ns, least_ns, most_ns;
} tm_step_time;

/** Reads a result table; a store that an older tmerge wrote may lack one, which is empty.
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_page_read_table(const tm_store *store, tm_table *table, tm_error *err) TM_MUST_CHECK;

/**
 * Reads overlap.step, overview.step and whatif.step.
 * @param tables  with the definitions, each empty, and empty again afterwards
 * @param out     freed by tm_step_sums_free whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_step_sums_make(const tm_store *store, const tm_tables *tables, tm_step_sums *out,
                            tm_error *err) TM_MUST_CHECK;
void tm_step_sums_free(tm_step_sums *sums);

/** Appends the steps' numbers, int64_t. False when memory is out, as those that follow. */
bool tm_step_sums_numbers(const tm_step_sums *sums, tm_vec *out);

/** Appends the longest step of each of @p n runs of equally many steps. */
bool tm_step_sums_longest(const tm_step_sums *sums, size_t n, tm_vec *out);

bool tm_step_sums_time(const tm_step_sums *sums, tm_step_time *out);

#endif
