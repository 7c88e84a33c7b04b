/* What a Kineto trace has before and after its events. */
#ifndef TMERGE_SYNTH_KINETO_FRAME_H
#define TMERGE_SYNTH_KINETO_FRAME_H

#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/placement.h"
#include "synth/base/synth_groups.h"
#include "synth/base/text_out.h"

/* Start and stop of the profiler [ns after TMS_BASE_NS]. */
typedef struct tms_window {
    int64_t begin_ns;
    int64_t end_ns;
} tms_window;

/* Writes everything up to the opening bracket of the events. */
void tms_kineto_header(tms_out *out, const tms_groups *groups, const tms_placement *placement);

/** Writes the metadata events, the profiler's own event and its marks, and the closing brackets.
 * @param name the trace's own file name
 * @return the number of duration and instant events written */
int64_t tms_kineto_footer(tms_out *out, const tms_config *config, const tms_placement *placement,
                          tms_window window, const char *name);

#endif
