/* Errors of clocks: convert the true time of the simulation to the time that a host's clock shows.
 */
#ifndef TMERGE_SYNTH_HOST_CLOCK_H
#define TMERGE_SYNTH_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_plan.h"
#include "synth/base/config.h"
#include "synth/base/event_list.h"
#include "synth/base/placement.h"

/* Error of a rank's clock. The trace has the following time for a true time:
 * true + offset_ns + drift_ppb * (true - TMS_EPOCH_NS) / 1e9
 * From the true time step_at_ns on, step_ns is added. On the GPU's tracks, gpu_error_ns is added.
 */
typedef struct tms_clock {
    int64_t offset_ns;
    int64_t drift_ppb;
    int64_t step_ns;
    int64_t step_at_ns;
    int64_t gpu_error_ns;
} tms_clock;

/* Returns the clock of a rank: its host's clock, with the error of the rank's GPU. */
tms_clock tms_clock_of(const tms_plan *plan, const tms_placement *placement);

/* Returns the time that the host records for a true time, in whole nanoseconds. */
int64_t tms_clock_recorded_ns(const tms_clock *clock, int64_t true_ns);

/* Converts the true times of a step's events to recorded ones. Starts and ends are converted
 * separately. */
void tms_clock_apply(const tms_clock *clock, tms_events *events);

#endif
