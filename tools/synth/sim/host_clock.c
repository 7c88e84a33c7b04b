/* The simulation runs in true time. Errors of clocks are added when times are recorded. */
#include "host_clock.h"

#include "synth/base/rng.h"

/* Each value selects one series of random numbers. The values differ from all rank numbers, and
 * from the values that sim_plan.c and injected_faults.c use. */
#define HOST_STREAM (UINT64_MAX - 3)
#define GPU_STREAM (UINT64_MAX - 4)

/* Returns a nearly normal value around zero: see tms_rng_around. */
static int64_t spread(tms_rng *rng, int64_t sigma) {
    uint64_t bits = tms_rng_next(rng);
    uint64_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff);
    int64_t deviation = (int64_t)(sum + (bits >> 48)) - 131070;

    return deviation * sigma / 37837;
}

tms_clock tms_clock_of(const tms_plan *plan, const tms_placement *placement) {
    const tms_config *config = plan->config;
    tms_clock clock = {.step_at_ns = TMS_EPOCH_NS + (plan->job_end_ns - TMS_EPOCH_NS) / 2};
    tms_rng host = tms_rng_start((uint64_t)config->seed, HOST_STREAM, (uint64_t)placement->host);
    tms_rng gpu = tms_rng_start((uint64_t)config->seed, GPU_STREAM, (uint64_t)placement->rank);

    clock.gpu_error_ns =
        tms_rng_range(&gpu, 0, 2 * config->gpu_error_ns + 1) - config->gpu_error_ns;
    /* Host 0's clock has no error. */
    if (placement->host > 0) {
        clock.offset_ns = spread(&host, config->offset_ns);
        clock.drift_ppb = spread(&host, config->drift_ppb);
        if (placement->host == (config->ranks - 1) / config->host_ranks) {
            clock.step_ns = config->ntp_step_ns;
        }
    }
    return clock;
}

int64_t tms_clock_recorded_ns(const tms_clock *clock, int64_t true_ns) {
    int64_t since_ns = true_ns - TMS_EPOCH_NS;
    int64_t second = INT64_C(1000000000);
    int64_t drifted_ns =
        since_ns / second * clock->drift_ppb + since_ns % second * clock->drift_ppb / second;

    return true_ns + clock->offset_ns + drifted_ns +
           (true_ns >= clock->step_at_ns ? clock->step_ns : 0);
}

/* Returns the time that the trace has for a true time: the host's error is included, and on a GPU
 * track also the GPU's error. */
static int64_t on_track(const tms_clock *clock, tms_track track, int64_t true_ns) {
    return tms_clock_recorded_ns(clock, true_ns) + (tms_track_gpu(track) ? clock->gpu_error_ns : 0);
}

void tms_clock_apply(const tms_clock *clock, tms_events *events) {
    for (size_t i = 1; i <= events->count; i++) {
        tms_event *event = &events->items[i];
        int64_t end_ns = on_track(clock, event->track, event->begin_ns + event->duration_ns);

        event->begin_ns = on_track(clock, event->track, event->begin_ns);
        event->duration_ns = end_ns - event->begin_ns;
        if (event->launch_ns != 0) {
            event->launch_ns = tms_clock_recorded_ns(clock, event->launch_ns);
        }
    }
    events->step_begin_ns = tms_clock_recorded_ns(clock, events->step_begin_ns);
    events->step_end_ns = tms_clock_recorded_ns(clock, events->step_end_ns);
}
