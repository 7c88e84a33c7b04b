/* Names of Python functions, "FILE(LINE): NAME". LINE is the line of the function's definition; if
 * the function was running when the profiler started, the line that was being executed. Private to
 * the Kineto reader. */
#ifndef TMERGE_KINETO_FRAMES_H
#define TMERGE_KINETO_FRAMES_H

#include "timeline/trace.h"
#include "tmerge/names.h"

/** Renames frames of functions that were running when the profiler started. Such a frame gets the
 * name of later calls of its function: the last function of the same file and name that is defined
 * before the frame's line. If there is no such function, or if later calls have the frame's name,
 * the frame keeps its name. TM_OK; TM_ERR_FAULT. */
tm_status tm_kineto_name_frames(tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
