/* Writes a rank's trace as the PyTorch profiler (Kineto, 2025) does, in the same layout. */
#ifndef TMERGE_SYNTH_WRITE_KINETO_H
#define TMERGE_SYNTH_WRITE_KINETO_H

#include <stddef.h>
#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/error.h"
#include "synth/base/event_list.h"
#include "synth/base/placement.h"
#include "synth/base/synth_groups.h"
#include "synth/base/text_out.h"

typedef struct tms_kineto tms_kineto;

/** Starts a trace: writes everything before its list of events.
 *
 * @param groups the groups, their configuration and @p out must live until tms_kineto_end is called
 * @param kineto  set only on TMS_OK; free with tms_kineto_free
 * @return        TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_kineto_begin(tms_kineto **kineto, const tms_groups *groups, int64_t rank,
                            tms_out *out, tms_error *err);

/** Writes the events of one section of a step. Call it section by section, in the order of
 * tms_section, and in each section from the first step to the last. */
void tms_kineto_events(tms_kineto *kineto, const tms_events *events, tms_section section);

/** Ends the trace: names of threads, the profiler's own span, the closing brackets.
 *
 * @param begin_ns  recorded start of the profiler [ns since the epoch]
 * @param end_ns    recorded stop of the profiler [ns since the epoch]
 * @param name      file name for the trace to show */
void tms_kineto_end(tms_kineto *kineto, int64_t begin_ns, int64_t end_ns, const char *name);

/* Returns the number of duration and instant events written so far. */
int64_t tms_kineto_count(const tms_kineto *kineto);

/* Frees a trace. @p kineto may be NULL. */
void tms_kineto_free(tms_kineto *kineto);

#endif
