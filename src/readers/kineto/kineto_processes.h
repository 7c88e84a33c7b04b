/* Whether a trace is of one process. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_PROCESSES_H
#define TMERGE_KINETO_PROCESSES_H

#include "timeline/trace.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Whether a process, by the name id of its number, is that of a device. Calls that a profiler puts
 * there are of the host's process. */
bool tm_kineto_is_of_device(const tm_trace *trace, uint32_t process);

/**
 * Finds out whether a file was made of the traces of several ranks: the profiler records its own
 * process, whose correlation ids are unique, so calls of several processes with the same ids were
 * put together by somebody, and whose kernel is whose cannot be known.
 *
 * @return  TM_OK; TM_ERR_INPUT: they were; TM_ERR_FAULT
 */
tm_status tm_kineto_one_process(const tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
