/* Work between MPI calls, on the threads that make them. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_MPI_WORK_H
#define TMERGE_NSYS_MPI_WORK_H

#include "nsys_emit.h"

/**
 * Adds the work between MPI calls as events (TM_CAT_HOST_WORK). For each thread, it covers the time
 * from the first call to the end of the last call or range. This time is divided at the bounds of
 * ranges. Each event has the name of the innermost range, without the number at its end, or
 * "outside of ranges".
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_add_work(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
