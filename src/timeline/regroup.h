/* Renumbers the ranks in a trace's process groups if the trace's numbers differ from the job's. */
#ifndef TMERGE_REGROUP_H
#define TMERGE_REGROUP_H

#include "trace.h"

/**
 * Replaces the numbers of ranks in a trace's process groups by the job's numbers. Such numbers are
 * in the lists of ranks of kernels and of the metadata, in the first ranks of groups with a stride,
 * and in the peers of transfers. If the job does not have a rank of a list, the whole list counts
 * as not recorded.
 *
 * @param moves    as in tm_ranks_decide
 * @param replica  replica to which the trace belongs, as in tm_trace_rank
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_regroup(tm_trace *trace, tm_names *names, const tm_vec *moves, int64_t replica,
                           tm_error *err) TM_MUST_CHECK;

#endif
