/* What an export says about the machine, the profiler and the threads. Private to the reader of
 * Nsight Systems exports. */
#ifndef TMERGE_NSYS_FACTS_H
#define TMERGE_NSYS_FACTS_H

#include "nsys_emit.h"

/**
 * Sets these facts about the recording:
 * - the host of the trace; it is the only value that is read from the captured environment
 * - the metadata of the trace: devices, in the form of Kineto's `deviceProperties`, and the
 *   profiler's warnings with their number
 * - the devices of the emitter
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_read_facts(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/**
 * Names the tracks. Call it once all tracks exist.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_name_tracks(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

#endif
