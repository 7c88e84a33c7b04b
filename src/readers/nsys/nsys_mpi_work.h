/* Work between MPI calls, on the threads that make them. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_MPI_WORK_H
#define TMERGE_NSYS_MPI_WORK_H

#include "nsys_emit.h"

/** Adds the work between MPI calls as events (TM_CAT_HOST_WORK), cut at the bounds of ranges and
 * named by the innermost range without the number at its end, or "outside of ranges". Covers the
 * time from a thread's first call to the end of its last call or range. TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_add_work(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
