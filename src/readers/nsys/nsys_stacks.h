/* Call chains of CUDA calls. Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_STACKS_H
#define TMERGE_NSYS_STACKS_H

#include "nsys_emit.h"

/** Records the call chain of the call with this correlation id. Returns false if out of memory. */
bool tm_nsys_note_chain(tm_nsys_emitter *e, int64_t correlation, int64_t chain);

/**
 * Adds stacks to the calls that were read, from their recorded chains.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_add_stacks(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
