/* Second pass: one rank alone, again from its random streams, with the plan's times put in. That it
 * meets the same ready times as the first pass is asserted in sim.c. */
#include "replay.h"

#include <string.h>

tms_status tms_replay_init(tms_replay *replay, const tms_plan *plan, int64_t rank,
                           unsigned sections, tms_error *err) {
    memset(replay, 0, sizeof *replay);
    replay->plan = plan;
    if (!tms_events_init(&replay->events, sections)) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for events");
    }
    return tms_sim_init(&replay->sim, plan->config, rank, err);
}

tms_status tms_replay_next(tms_replay *replay, bool *more, tms_error *err) {
    const tms_config *config = replay->plan->config;
    tms_sim *sim = &replay->sim;
    int64_t step = sim->step;

    *more = step < config->steps;
    if (!*more) {
        return TMS_OK;
    }
    tms_events_clear(&replay->events);
    /* The head's random numbers come from (seed, rank, step): the same as in the plan. */
    tms_sim_head(sim, &replay->events);
    for (int64_t b = 0; b < config->buckets; b++) {
        size_t at = tms_plan_index(config, step, b) + (size_t)sim->layout.rank;

        sim->buckets[b].begin_ns = replay->plan->begin_ns[at];
        sim->buckets[b].end_ns = replay->plan->end_ns[at];
    }
    tms_sim_tail(sim, &replay->events);
    if (replay->events.out_of_memory) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for the events of one step");
    }
    return TMS_OK;
}

void tms_replay_free(tms_replay *replay) {
    tms_sim_free(&replay->sim);
    tms_events_free(&replay->events);
}
