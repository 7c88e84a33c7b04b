/* What the process did on the host besides CUDA. Private to the reader of Nsight Systems exports.
 */
#ifndef TMERGE_NSYS_HOST_H
#define TMERGE_NSYS_HOST_H

#include "nsys_emit.h"

#define TM_NSYS_RANGE_COLUMNS "start", "end", "globalTid", "nameId", "eventClass"

/** Makes an event of the table's category of a row that has a name, a thread and times alone: a
 * call of the C library, the kernel, cuDNN, ..., a region of OpenMP. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT.
 */
tm_status tm_nsys_range_row(tm_nsys_emitter *e, sqlite3_value **values,
                            tm_error *err) TM_MUST_CHECK;

#endif
