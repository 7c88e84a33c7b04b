/* Computes exposed_ns: the time of a communication kernel in which its rank computes nothing. */
#ifndef TMERGE_EXPOSED_H
#define TMERGE_EXPOSED_H

#include "tmerge/status.h"
#include "tmerge/timeline.h"

/**
 * Sets exposed_ns of every communication kernel: |k \ P|. k is the kernel without the time before
 * the job's profilers had started (tm_opened). P is the time in which the rank computes on any
 * device; for a CPU rank, including what tm_timeline_add_hidden adds. Time in which several
 * communication kernels run counts for each of them (but only once in exposed_comm_ns of
 * overlap.rank). -1 for rows of other events.
 *
 * @return  TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_set(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
