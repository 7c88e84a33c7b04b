/* Names of Python functions have the form "FILE(LINE): NAME". Normally, LINE is the line at which
 * the function is defined. But if the function was running when the profiler started, LINE is the
 * line that was being executed. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_FRAMES_H
#define TMERGE_KINETO_FRAMES_H

#include "timeline/trace.h"
#include "tmerge/names.h"

/**
 * Renames the frames of functions that were running when the profiler started. Such a frame gets
 * the name that later calls of its function have. The function of a frame is the last one with the
 * same file and name that is defined before the frame's line. The frame keeps its name if there is
 * no such function, or if later calls have the frame's own name.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_kineto_name_frames(tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
