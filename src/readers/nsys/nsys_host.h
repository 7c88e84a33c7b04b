/* Host activity of the process other than CUDA. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_HOST_H
#define TMERGE_NSYS_HOST_H

#include "nsys_emit.h"

#define TM_NSYS_RANGE_COLUMNS "start", "end", "globalTid", "nameId", "eventClass"

/**
 * Makes an event from a row that has only a name, a thread and times: a call of the C library, the
 * kernel or cuDNN, or an OpenMP region. The event has the category of the current table.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_range_row(tm_nsys_emitter *e, sqlite3_value **values,
                            tm_error *err) TM_MUST_CHECK;

#endif
