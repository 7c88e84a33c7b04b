/* The table job.differs: properties that should be equal on all ranks of a job but are not. Part of
 * the analysis `job`. */
#ifndef TMERGE_DIFFERS_H
#define TMERGE_DIFFERS_H

#include "tmerge/analysis.h"

/** Maximum number of a rank's kernels that are kept. These are the kernels with the smallest
 * hashes, so that ranks of one program keep the same kernels. */
enum { TM_DIFFERS_KERNELS = 128 };

extern const tm_table_def tm_differs_table;

/** Part tables: the properties of the job that each rank reports. */
extern const tm_table_def tm_differs_place, tm_differs_kernel, tm_differs_group;

/** Adds the properties that a rank reports. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_differs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Compares the properties that all ranks report. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_differs_job(const tm_job *job, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
