/* Computes exposed_ns: the time of a communication kernel in which its rank computes nothing. */
#ifndef TMERGE_EXPOSED_H
#define TMERGE_EXPOSED_H

#include "tmerge/status.h"
#include "tmerge/timeline.h"

/**
 * Sets exposed_ns of every communication kernel. It is |k \ P|, the length of k without P. k is the
 * time of the kernel, except the time before the job's profilers had started (tm_opened). P is the
 * time in which the rank computes on any device. For a CPU rank, P includes what
 * tm_timeline_add_hidden adds. If several communication kernels run at the same time, this time
 * counts for each of them. (In exposed_comm_ns of overlap.rank, it counts only once.) For rows of
 * other events, exposed_ns is set to -1.
 *
 * @return  TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_set(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
