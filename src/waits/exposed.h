/* How much of each communication kernel no computation of its rank hides. */
#ifndef TMERGE_EXPOSED_H
#define TMERGE_EXPOSED_H

#include "tmerge/status.h"
#include "tmerge/timeline.h"

/**
 * Sets exposed_ns of every communication kernel: |k \ P|, where k is the kernel from when the job's
 * profilers were open on (tm_opened) and P what the rank computes on all of its devices (of a CPU
 * what tm_timeline_add_hidden adds, too). A moment in which several communication kernels run
 * counts for each of them; the union of these sets is overlap.rank's exposed_comm_ns, which counts
 * it once. -1 for what is none.
 *
 * @return  TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_exposed_set(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif
