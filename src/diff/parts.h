/* The tables of tmerge diff, and the functions that fill them. */
#ifndef TMERGE_DIFF_PARTS_H
#define TMERGE_DIFF_PARTS_H

#include "kinds.h"
#include "sample.h"
#include "tmerge/diff.h"

extern const tm_table_def tm_diff_job_def, tm_diff_rank_def, tm_diff_kernel_def,
    tm_diff_operator_def;

/** The two jobs, which all functions below read. */
typedef struct tm_diff {
    const tm_tables *tables[2]; /* tables of A and of B, borrowed */
    tm_roles roles[2];
    tm_kind_pairs kinds;
    double rank_steps[2]; /* number of steps, summed over ranks; at least 1 */
    bool by_call; /* whether kernels and operators are compared per call, because A or B has too few
                     steps */
    bool shifted; /* whether the shares of the kinds of steps differ, which changes sums over kinds
                   */
} tm_diff;

/** Words of the `verdict` columns. */
#define TM_DIFF_SAME "same"
#define TM_DIFF_UNCLEAR "unclear"
#define TM_DIFF_FEW "too few steps"
#define TM_DIFF_DIFFERS "differs"

/** If a job has fewer whole steps, kernels and operators are compared per call: times per step
 * would depend on the length of the recording. */
enum { TM_DIFF_STEPS_OF_NAMES = 2 };

/** Smallest change [%] that counts as real for figures that are not by step, such as counts. */
#define TM_DIFF_LEAST_PCT 2.0

/** Fills diff.job. @return TM_OK; TM_ERR_FAULT */
tm_status tm_diff_figures(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/** Fills diff.rank. @return TM_OK; TM_ERR_FAULT */
tm_status tm_diff_ranks(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/**
 * These functions fill diff.kernel and diff.operator.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_diff_kernels(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_diff_operators(const tm_diff *diff, tm_table *out, tm_error *err) TM_MUST_CHECK;

/** Returns the largest value of a column. In the result, `n` is 1, or 0 if the column has no
 * values. If @p of_gpus is set, rows about the host are ignored. */
tm_sample tm_diff_largest(const tm_table *table, const char *column, bool of_gpus);

/** Returns 100 (b - a) / |a|; not finite if @p a is 0. */
double tm_diff_pct(double a, double b);

#endif
