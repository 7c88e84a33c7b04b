/* The parts of a step before and after the model's part. */
#include "step.h"

#include <string.h>

#include "cpu.h"
#include "injected_faults.h"
#include "model.h"

static int64_t max_ns(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Opens the step's annotation and resets the step's counters. */
static void begin_step(tms_sim *sim) {
    const tms_config *config = sim->config;
    int64_t slow_ppm = tms_injected_slow_ppm(config, sim->placement.rank, sim->step);
    bool host = config->slow_kind == TMS_SLOW_HOST;

    /* Each step starts its own random numbers, so that it does not depend on how many the previous
     * step drew. */
    sim->rng =
        tms_rng_start((uint64_t)config->seed, (uint64_t)sim->placement.rank, (uint64_t)sim->step);
    sim->compute_ppm = tms_scale_ppm(slow_ppm != 0 && !host ? slow_ppm : 1000000,
                                     tms_injected_share_ppm(config, &sim->placement, sim->step));
    sim->host_ppm = host ? slow_ppm : 0;
    sim->n_kernels = 0;
    sim->thread = TMS_TRACK_HOST;
    sim->op_id = 0;
    sim->gpu_begin_ns = 0;
    sim->n_tasks = 0;
    sim->next_task = 0;
    sim->n_comms = 0;
    sim->n_pushed = 0;
    memset(sim->role_count, 0, sizeof sim->role_count);
    memset(sim->role_last, 0, sizeof sim->role_last);
    sim->step_begin_ns = sim->cpu_ns;
    sim->step_event = tms_cpu_open(sim, TMS_ANN_STEP, config->first_step + sim->step).event;
    sim->step_id = sim->external_id;
    if (config->graphs != 0) {
        sim->graph_ns = tms_cpu_call(sim, TMS_RT_GRAPH_LAUNCH, 20000, 40000);
        sim->graph_correlation = sim->correlation;
    }
}

void tms_step_head(tms_sim *sim, tms_events *events) {
    sim->events = events;
    begin_step(sim);
    tms_model_step(sim);
    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        tms_task task = {.kind = TMS_DO_DRAIN, .index = sim->role_last[role] - 1};

        if (sim->role_last[role] != 0) {
            tms_sim_queue(sim, &task);
        }
    }
}

/* Sets the times of the collectives' kernels, which are now known. */
static void complete_comms(tms_sim *sim) {
    for (size_t i = 0; i < sim->n_comms; i++) {
        const tms_comm *comm = &sim->comms[i];
        tms_event *kernel = &sim->events->items[comm->kernel_event];
        tms_event *annotation = &sim->events->items[comm->annotation_event];

        kernel->begin_ns = comm->begin_ns;
        kernel->duration_ns = comm->end_ns - comm->begin_ns;
        annotation->begin_ns = comm->begin_ns;
        annotation->duration_ns = comm->end_ns - comm->begin_ns;
    }
    sim->events->comms = sim->comms;
}

/* Waits for the GPU, so that every event of the step is inside its annotation. */
static void synchronize(tms_sim *sim) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .correlation = ++sim->correlation,
                       .kind = TMS_RT_SYNCHRONIZE,
                       .track = sim->thread};
    int64_t free_ns = sim->compute_free_ns;

    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        free_ns = max_ns(free_ns, sim->comm_free_ns[role]);
    }
    tms_cpu_spend(sim, 2000, 4000);
    sim->cpu_ns = max_ns(sim->cpu_ns, free_ns + tms_rng_range(&sim->rng, 3000, 6000));
    event.duration_ns = sim->cpu_ns - event.begin_ns;
    (void)tms_events_push(sim->events, &event);
}

/* Ends the step's annotations. Then lets the time between two steps pass, in which the profiler
 * advances. */
static void end_step(tms_sim *sim) {
    tms_events *events = sim->events;
    tms_event event = {.begin_ns = sim->gpu_begin_ns,
                       .duration_ns = sim->compute_free_ns - sim->gpu_begin_ns,
                       .external_id = sim->step_id,
                       .value = sim->config->first_step + sim->step,
                       .kind = TMS_GPU_ANN_STEP,
                       .track = TMS_TRACK_COMPUTE};

    (void)tms_events_push(events, &event);
    tms_cpu_spend(sim, 8000, 12000);
    events->items[sim->step_event].duration_ns = sim->cpu_ns - sim->step_begin_ns;
    events->step = event.value;
    events->step_begin_ns = sim->step_begin_ns;
    events->step_end_ns = sim->cpu_ns;
    tms_cpu_spend(sim, 5000, 20000);
    sim->step++;
}

void tms_step_tail(tms_sim *sim) {
    complete_comms(sim);
    synchronize(sim);
    end_step(sim);
}
