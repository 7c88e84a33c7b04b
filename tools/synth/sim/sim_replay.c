/* Second pass: simulates a rank again with the same random numbers, and with the plan's times of
 * collectives. Asserts that the rank's collectives can start at these times. */
#include "sim_replay.h"

#include <assert.h>
#include <string.h>

#include "gpu.h"
#include "injected_faults.h"
#include "step.h"

/* A profiler that starts late starts between two steps. Steps are at least 5 us apart. */
#define LATE_START_NS 3000

tms_status tms_replay_init(tms_replay *replay, const tms_plan *plan, int64_t rank,
                           unsigned sections, tms_error *err) {
    memset(replay, 0, sizeof *replay);
    replay->plan = plan;
    replay->sections = sections;
    tms_sim_init(&replay->sim, &plan->groups, rank);
    replay->clock = tms_clock_of(plan, &replay->sim.placement);
    replay->begin_ns =
        tms_clock_recorded_ns(&replay->clock, tms_sim_profiler_begin_ns(plan->config, rank));
    if (!tms_events_init(&replay->events, sections)) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for events");
    }
    return TMS_OK;
}

/* Implements tms_network.arrive. Takes the start and the end from the plan. */
static void arrive(void *context, const tms_sim *sim, tms_comm *comm, int64_t ready_ns,
                   int64_t free_ns) {
    const tms_plan *plan = context;
    size_t at = tms_plan_index(plan, sim->step, comm->part);

    comm->begin_ns = plan->begin_ns[at];
    comm->end_ns = plan->end_ns[at];
    assert(comm->begin_ns >= ready_ns && comm->begin_ns >= free_ns);
    (void)ready_ns;
    (void)free_ns;
}

/* Returns whether the end is known. It always is: a rank waits only for collectives at which it has
 * arrived, and arrive() sets the end. */
static bool ended(void *context, const tms_sim *sim, tms_comm *comm) {
    (void)context;
    (void)sim;
    return comm->end_ns != 0;
}

/* Simulates one step. The step's events get true times. */
static tms_status step(tms_replay *replay, tms_error *err) {
    tms_sim *sim = &replay->sim;
    tms_network network = {.arrive = arrive, .ended = ended};

    /* The context of tms_network is not const, because the first pass writes to it. The functions
     * here only read the plan, so memcpy() may drop the const. */
    memcpy(&network.context, &replay->plan, sizeof network.context);
    tms_events_clear(&replay->events);
    /* The head starts the same random numbers as in the plan, from seed, rank and step. */
    tms_step_head(sim, &replay->events);
    if (sim->out_of_memory || !tms_gpu_advance(sim, &network)) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for the operations of one step");
    }
    tms_step_tail(sim);
    if (replay->events.out_of_memory) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for the events of one step");
    }
    return TMS_OK;
}

tms_status tms_replay_next(tms_replay *replay, bool *more, tms_error *err) {
    const tms_config *config = replay->plan->config;
    tms_sim *sim = &replay->sim;
    int64_t skipped = tms_injected_skipped(config, sim->placement.rank);
    tms_status status = TMS_OK;

    replay->events.sections = TMS_NO_SECTIONS;
    while (sim->step < skipped && status == TMS_OK) {
        status = step(replay, err);
        replay->begin_ns = tms_clock_recorded_ns(&replay->clock, sim->cpu_ns - LATE_START_NS);
    }
    replay->events.sections = replay->sections;
    *more = sim->step < config->steps;
    if (!*more || status != TMS_OK) {
        return status;
    }
    status = step(replay, err);
    tms_clock_apply(&replay->clock, &replay->events);
    replay->end_ns = tms_clock_recorded_ns(&replay->clock, sim->cpu_ns);
    return status;
}

void tms_replay_free(tms_replay *replay) {
    tms_sim_free(&replay->sim);
    tms_events_free(&replay->events);
}
