/* Renumbers process groups of a trace whose ranks differ from the job's. */
#ifndef TMERGE_REGROUP_H
#define TMERGE_REGROUP_H

#include "trace.h"

/**
 * Replaces the trace's ranks in its process groups by the job's ranks: in lists of its kernels and
 * metadata, in starts with a stride, and in peers. If the ranks of a list are unknown in the job,
 * it is treated as if it had not been recorded.
 *
 * @param moves    as in tm_ranks_decide
 * @param replica  of the trace, as in tm_claim
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_regroup(tm_trace *trace, tm_names *names, const tm_vec *moves, int64_t replica,
                           tm_error *err) TM_MUST_CHECK;

#endif
