/* NVTX ranges and marks of an export. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_NVTX_H
#define TMERGE_NSYS_NVTX_H

#include "nsys_emit.h"

#define TM_NSYS_NVTX_COLUMNS                                                                       \
    "start", "end", "globalTid", "eventType", "text", "textId", "domainId", "binaryData"

/**
 * Makes an event from a row with TM_NSYS_NVTX_COLUMNS. The event is an operator if torch's
 * emit_nvtx made the range, otherwise an annotation.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_nvtx_row(tm_nsys_emitter *e, sqlite3_value **values, tm_error *err) TM_MUST_CHECK;

#endif
