/* Where calls were made: call chains of an export of Nsight Systems. Private to its reader. */
#ifndef TMERGE_NSYS_STACKS_H
#define TMERGE_NSYS_STACKS_H

#include "nsys_emit.h"

/** Notes that the call with this number was made by a chain. False when memory is out. */
bool tm_nsys_note_chain(tm_nsys_emitter *e, int64_t correlation, int64_t chain);

/** Gives the calls that were read the stacks of their chains. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_add_stacks(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
