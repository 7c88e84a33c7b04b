/* The table job.differs: what should be one over the ranks of one job, and is not. Part of the
 * analysis `job`. */
#ifndef TMERGE_DIFFERS_H
#define TMERGE_DIFFERS_H

#include "tmerge/analysis.h"

/** Of many kernels those of the least hashes stand for all: the same ones on every rank. */
enum { TM_DIFFERS_KERNELS = 128 };

extern const tm_table_def tm_differs_table;

/** What ranks say of the job, on the way to it: internal tables. */
extern const tm_table_def tm_differs_place, tm_differs_kernel, tm_differs_group;

/** Adds what one rank says. TM_OK; TM_ERR_FAULT. */
tm_status tm_differs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Compares what all ranks say. TM_OK; TM_ERR_FAULT. */
tm_status tm_differs_job(const tm_job *job, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
