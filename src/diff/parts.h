/* The tables of tmerge diff, and what fills each. */
#ifndef TMERGE_DIFF_PARTS_H
#define TMERGE_DIFF_PARTS_H

#include "kinds.h"
#include "sample.h"
#include "tmerge/diff.h"

extern const tm_table_def tm_diff_job_def, tm_diff_rank_def, tm_diff_kernel_def,
    tm_diff_operator_def;

/** What every part looks at. */
typedef struct tm_diff {
    const tm_tables *tables[2]; /* of A and B, borrowed */
    tm_roles roles[2];
    tm_kind_pairs kinds;
    double rank_steps[2]; /* steps of all ranks together, at least 1 */
    bool by_call;         /* A or B has too few steps for anything to be of a step, or */
    bool shifted;         /* other shares of steps of each kind: sums over kinds go with these */
} tm_diff;

/** The words of the columns `verdict`. */
#define TM_DIFF_SAME "same"
#define TM_DIFF_UNCLEAR "unclear"
#define TM_DIFF_FEW "too few steps"
#define TM_DIFF_DIFFERS "differs"

/** With fewer whole steps, what runs is compared by call: how much of it there is goes with how
 * long a job was recorded. */
enum { TM_DIFF_STEPS_OF_NAMES = 2 };

/** Changes of what has no steps to judge it by, such as counts, are real from here on. */
#define TM_DIFF_LEAST_PCT 2.0

/** Fills diff.job. TM_OK; TM_ERR_FAULT. */
tm_status tm_diff_figures(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/** Fills diff.rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_diff_ranks(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/** Fills diff.kernel and diff.operator. TM_OK; TM_ERR_FAULT. */
tm_status tm_diff_kernels(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_diff_operators(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/** The largest number of a column; as a sample its n is 1, or 0 where there is none. of_gpus: rows
 * whose device is the host are none. */
tm_sample tm_diff_largest(const tm_table *table, const char *column, bool of_gpus);

/** 100 (b / a - 1); not finite where a is 0. */
double tm_diff_pct(double a, double b);

#endif
