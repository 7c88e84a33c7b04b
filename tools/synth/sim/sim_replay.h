/* Simulates a rank's steps again. The times of its collectives are from the plan. */
#ifndef TMERGE_SYNTH_SIM_REPLAY_H
#define TMERGE_SYNTH_SIM_REPLAY_H

#include <stdbool.h>

#include "host_clock.h"
#include "sim_plan.h"
#include "simulated_rank.h"
#include "synth/base/event_list.h"

typedef struct tms_replay {
    const tms_plan *plan; /* borrowed */
    tms_clock clock;
    tms_sim sim;
    tms_events events; /* events of the current step, in recorded time */
    unsigned sections; /* sections whose events are kept: a set of TMS_SECTION_BIT */
    int64_t begin_ns;  /* start and end of the recording, in recorded time */
    int64_t end_ns;
} tms_replay;

/** Prepares a replay before the rank's first recorded step.
 *
 * @param plan must outlive @p replay
 * @param sections  events to keep, a set of TMS_SECTION_BIT
 * @param replay freed by tms_replay_free, also after a failure
 * @return          TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_replay_init(tms_replay *replay, const tms_plan *plan, int64_t rank,
                           unsigned sections, tms_error *err);

/**
 * Advances to the next step and lists its events in @p replay->events.
 *
 * @param more  set on TMS_OK: false if there is no further step
 * @return      TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_replay_next(tms_replay *replay, bool *more, tms_error *err);

void tms_replay_free(tms_replay *replay);

#endif
