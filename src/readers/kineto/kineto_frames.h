/* Names of Python functions, "FILE(LINE): NAME". The line is that of the definition, except for
 * functions that were running when the profiler started: for these it is the current line. Private
 * to the Kineto reader. */
#ifndef TMERGE_KINETO_FRAMES_H
#define TMERGE_KINETO_FRAMES_H

#include "timeline/trace.h"
#include "tmerge/names.h"

/** Renames such frames to the name of later calls of their function: the last function of the same
 * file and name that is defined before the frame's line. A frame keeps its name if there is none,
 * or if later calls have its own name. TM_OK; TM_ERR_FAULT. */
tm_status tm_kineto_name_frames(tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
