/* Writes one rank's trace as the PyTorch profiler (Kineto, 2025) does, byte layout included. */
#ifndef TMERGE_SYNTH_KINETO_H
#define TMERGE_SYNTH_KINETO_H

#include <stddef.h>
#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/error.h"
#include "synth/base/events.h"
#include "synth/base/groups.h"
#include "synth/base/out.h"
#include "synth/base/placement.h"

typedef struct tms_kineto tms_kineto;

/**
 * Starts a trace: writes everything up to its list of events.
 *
 * @param groups  kept by reference until tms_kineto_end, as is its configuration
 * @param out     kept by reference until tms_kineto_end
 * @param kineto  set only on TMS_OK; free with tms_kineto_free
 * @return        TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_kineto_begin(tms_kineto **kineto, const tms_groups *groups, int64_t rank,
                            tms_out *out, tms_error *err);

/**
 * Writes the events of one section. Sections come in the order of tms_section, each from the
 * first step to the last.
 */
void tms_kineto_events(tms_kineto *kineto, const tms_events *events, tms_section section);

/**
 * Ends the trace: names of threads, the profiler's own span, the closing brackets.
 *
 * @param begin_ns  when the profiler starts, as recorded [ns since the epoch]
 * @param end_ns    when it stops
 * @param name      file name that the trace shows as its own
 */
void tms_kineto_end(tms_kineto *kineto, int64_t begin_ns, int64_t end_ns, const char *name);

/* Duration and instant events written so far: what a reader has to count. */
int64_t tms_kineto_count(const tms_kineto *kineto);

/* NULL is fine. */
void tms_kineto_free(tms_kineto *kineto);

#endif
