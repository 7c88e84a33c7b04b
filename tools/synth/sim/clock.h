/* Wrong clocks: what a host writes down where the job's common clock shows another time. */
#ifndef TMERGE_SYNTH_CLOCK_H
#define TMERGE_SYNTH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "synth/base/config.h"
#include "synth/base/events.h"
#include "synth/base/placement.h"

/* recorded = true + offset_ns + drift_ppb * (true - TMS_EPOCH_NS) / 1e9, and step_ns more from
 * step_at_ns (true) on; on the GPU's rows gpu_error_ns more. */
typedef struct tms_clock {
    int64_t offset_ns;
    int64_t drift_ppb;
    int64_t step_ns;
    int64_t step_at_ns;
    int64_t gpu_error_ns;
} tms_clock;

/* The clock of a rank: all of it but the GPU's error is its host's. */
tms_clock tms_clock_of(const tms_plan *plan, const tms_placement *placement);

/* What the host writes down; nanoseconds in between are cut. */
int64_t tms_clock_recorded_ns(const tms_clock *clock, int64_t true_ns);

/* Turns the true times of a step's events into recorded ones: begins and ends by themselves. */
void tms_clock_apply(const tms_clock *clock, tms_events *events);

#endif
