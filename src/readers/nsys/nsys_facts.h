/* What an export says about the machine, the profiler and the threads. Private to the reader of
 * Nsight Systems exports. */
#ifndef TMERGE_NSYS_FACTS_H
#define TMERGE_NSYS_FACTS_H

#include "nsys_emit.h"

/**
 * Sets the trace's host, its metadata (devices as in Kineto's `deviceProperties`, the profiler's
 * warnings and their number), and the emitter's devices. Of the captured environment, only the host
 * name is read. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT.
 */
tm_status tm_nsys_read_facts(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** Names the tracks. Call it once all tracks exist. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_name_tracks(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
