/* What an export says of its machine, its profiler and its threads. Private to the reader of Nsight
 * Systems exports. */
#ifndef TMERGE_NSYS_FACTS_H
#define TMERGE_NSYS_FACTS_H

#include "nsys_emit.h"

/**
 * Sets the trace's host and metadata (devices as in Kineto's `deviceProperties`, the profiler's
 * warnings), its count of these, and the emitter's devices. Of the environment nothing is read but
 * the host's name. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT.
 */
tm_status tm_nsys_read_facts(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** Names the tracks, once all of them are known. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_name_tracks(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
