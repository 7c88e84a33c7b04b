/* Operations of compiled programs: summed by operation, category and program. */
#ifndef TMERGE_HLO_ROWS_H
#define TMERGE_HLO_ROWS_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** Shown, and on the way there. */
extern const tm_table_def tm_hlo_op_table, tm_hlo_category_table, tm_hlo_program_table;
extern const tm_table_def tm_hlo_op_part, tm_hlo_category_part, tm_hlo_program_part;

/** What a rank's operations, or some of them, sum to. */
typedef struct tm_hlo_sum {
    int64_t occurrences, self_ns;
    int64_t told_ns; /* of self_ns, that of operations whose FLOP and bytes are told */
    int64_t async_ns;
    int64_t flop, bytes;
    int64_t role;          /* tm_role: the largest */
    int64_t origin, shape; /* name ids: of the first */
} tm_hlo_sum;

/** The most that devices do. 0 where it is not known, or differs between ranks. */
typedef struct tm_hlo_peaks {
    double tflops, bw_gbps;
} tm_hlo_peaks;

/**
 * Adds a rank's rows to the parts.
 * @param ops  of tm_xla_op
 * @param all  what all of them sum to; set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_hlo_rank_rows(const tm_rank_view *view, const tm_vec *ops, tm_tables *out,
                           tm_hlo_sum *all, tm_error *err) TM_MUST_CHECK;

/** Merges the parts. TM_OK; TM_ERR_FAULT. */
tm_status tm_hlo_merge_rows(const tm_names *names, tm_tables *all, tm_error *err) TM_MUST_CHECK;

/** Holds the rows of all ranks against the peaks, and leaves those with most time. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_hlo_complete_rows(const tm_hlo_peaks *peaks, tm_tables *out,
                               tm_error *err) TM_MUST_CHECK;

#endif
