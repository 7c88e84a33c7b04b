/* Functions of Python, "FILE(LINE): NAME": the profiler writes the line at which they are defined,
 * but of those that were running when it began the line that they had come to. Private to the
 * Kineto reader. */
#ifndef TMERGE_KINETO_FRAMES_H
#define TMERGE_KINETO_FRAMES_H

#include "timeline/trace.h"
#include "tmerge/names.h"

/** Gives such a frame the name under which its function is called later: of the file's functions of
 * this name the last one that is defined before its line. It stays where there is none, or where
 * its own name is used later, too. TM_OK; TM_ERR_FAULT. */
tm_status tm_kineto_name_frames(tm_trace *trace, const tm_names *names,
                                tm_error *err) TM_MUST_CHECK;

#endif
