/* Computes the time of each communication kernel that is not hidden by computation of its rank. */
#ifndef TMERGE_EXPOSED_H
#define TMERGE_EXPOSED_H

#include "tmerge/status.h"
#include "tmerge/timeline.h"

/**
 * Sets exposed_ns of every communication kernel: |k \ P|, where k is the kernel clipped to the time
 * after the job's profilers were open (tm_opened) and P is the time in which the rank computes on
 * any of its devices (for a CPU rank including what tm_timeline_add_hidden adds). If several
 * communication kernels run at the same time, it counts for each of them. exposed_comm_ns of
 * overlap.rank counts it once, because it is the union over all kernels. -1 for other events.
 *
 * @return  TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_exposed_set(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
