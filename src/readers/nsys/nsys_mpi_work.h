/* What the threads that call MPI did between its calls. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_MPI_WORK_H
#define TMERGE_NSYS_MPI_WORK_H

#include "nsys_emit.h"

/** Adds it in pieces (TM_CAT_HOST_WORK) between all calls of MPI and bounds of ranges on the
 * thread, named by the innermost range without the number at its end, or "outside of ranges". From
 * the begin of the first call to the end of the last event of either kind. TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_add_work(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
