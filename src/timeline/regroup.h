/* Process groups of a trace that tells ranks in another way than the job has them. */
#ifndef TMERGE_REGROUP_H
#define TMERGE_REGROUP_H

#include "trace.h"

/**
 * Puts the ranks of the job in the place of those that the trace tells its process groups in: in
 * lists, of its kernels and of its metadata, in starts with a stride, and as peers. What a list's
 * ranks are in the job cannot always be known; then it is as if it were not recorded.
 *
 * @param moves    as of tm_ranks_decide
 * @param replica  of the trace, as of tm_claim
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_regroup(tm_trace *trace, tm_names *names, const tm_vec *moves, int64_t replica,
                           tm_error *err) TM_MUST_CHECK;

#endif
