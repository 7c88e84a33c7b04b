/* Checks that a trace has the calls of only one process. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_PROCESSES_H
#define TMERGE_KINETO_PROCESSES_H

#include "timeline/trace.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Returns whether a process, given by the name id of its number, is a device. (Calls that a
 * profiler puts on a device belong to the host's process.) */
bool tm_kineto_is_of_device(const tm_trace *trace, uint32_t process);

/**
 * Detects a file that was merged from the traces of several ranks. A profiler records only its own
 * process, in which correlation ids are unique. If several processes have calls with the same ids,
 * it is not known which of them launched a kernel.
 *
 * @return  TM_OK; TM_ERR_INPUT if it is merged; TM_ERR_FAULT
 */
tm_status tm_kineto_one_process(const tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
