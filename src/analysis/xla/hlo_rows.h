/* Sums operations of compiled programs by operation, category and program. */
#ifndef TMERGE_HLO_ROWS_H
#define TMERGE_HLO_ROWS_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** The shown table, and the part table that it is merged from. */
extern const tm_table_def tm_hlo_work_table, tm_hlo_work_part;

/** Sums over operations of a rank. */
typedef struct tm_hlo_sum {
    int64_t occurrences, self_ns;
    int64_t known_ns; /* part of self_ns in operations with known FLOP and bytes */
    int64_t async_ns;
    int64_t flop, bytes;
    int64_t role;          /* tm_role: the maximum */
    int64_t origin, shape; /* name ids, those of the first operation */
} tm_hlo_sum;

/** Peaks of the devices. 0 if unknown or different between ranks. */
typedef struct tm_hlo_peaks {
    double tflops, bw_gbps;
} tm_hlo_peaks;

/**
 * Adds a rank's rows to the part.
 * @param ops  operations, of tm_xla_op
 * @param all  sum over all operations; set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_hlo_rank_rows(const tm_rank_view *view, const tm_vec *ops, tm_tables *out,
                           tm_hlo_sum *all, tm_error *err) TM_MUST_CHECK;

/** Merges the part into the shown table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_hlo_merge_rows(const tm_names *names, tm_tables *all, tm_error *err) TM_MUST_CHECK;

/** Compares the rows of all ranks with the peaks. Keeps the rows with the largest time. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_hlo_complete_rows(const tm_hlo_peaks *peaks, tm_tables *out,
                               tm_error *err) TM_MUST_CHECK;

#endif
