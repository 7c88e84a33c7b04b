/* Sums over operations of compiled programs: by operation, by category and by program. */
#ifndef TMERGE_HLO_ROWS_H
#define TMERGE_HLO_ROWS_H

#include "base/vec.h"
#include "tmerge/analysis.h"

/** The table hlo.work, and the part table from which it is merged. */
extern const tm_table_def tm_hlo_work_table, tm_hlo_work_part;

/** Sums over the operations of a rank. */
typedef struct tm_hlo_sum {
    int64_t occurrences, self_ns;
    int64_t known_ns; /* part of self_ns that is in operations whose FLOP and bytes are known */
    int64_t async_ns;
    int64_t flop, bytes;
    int64_t role; /* tm_role: the maximum */
    /* origin and shape of the first operation that was added; name ids */
    int64_t origin, shape;
} tm_hlo_sum;

/** Peaks of the devices; 0 if unknown, or if ranks differ. */
typedef struct tm_hlo_peaks {
    double tflops, bw_gbps;
} tm_hlo_peaks;

/**
 * Adds a rank's rows to the part table.
 * @param ops  vector of tm_xla_op: the rank's operations
 * @param all  sums over all operations; set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_hlo_rank_rows(const tm_rank_view *view, const tm_vec *ops, tm_tables *out,
                           tm_hlo_sum *all, tm_error *err) TM_MUST_CHECK;

/** Merges the part table into the result table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_hlo_merge_rows(const tm_names *names, tm_tables *all, tm_error *err) TM_MUST_CHECK;

/** Sets the columns that need the peaks of all ranks. Keeps the rows with the most time. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_hlo_complete_rows(const tm_hlo_peaks *peaks, tm_tables *out,
                               tm_error *err) TM_MUST_CHECK;

#endif
