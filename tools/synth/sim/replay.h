/* Walks over one rank's steps again, now that the plan says when its collectives run. */
#ifndef TMERGE_SYNTH_REPLAY_H
#define TMERGE_SYNTH_REPLAY_H

#include <stdbool.h>

#include "clock.h"
#include "plan.h"
#include "simulated_rank.h"
#include "synth/base/events.h"

typedef struct tms_replay {
    const tms_plan *plan; /* borrowed */
    tms_clock clock;
    tms_sim sim;
    tms_events events; /* of the step that tms_replay_next came to, in recorded time */
    unsigned sections; /* that are kept */
    int64_t begin_ns;  /* when the recording begins and ends, in recorded time */
    int64_t end_ns;
} tms_replay;

/**
 * Stands before the rank's first recorded step.
 *
 * @param plan      kept by reference; must outlive @p replay
 * @param sections  which events to keep, a set of TMS_SECTION_BIT
 * @param replay    to be freed with tms_replay_free whatever the status
 * @return          TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_replay_init(tms_replay *replay, const tms_plan *plan, int64_t rank,
                           unsigned sections, tms_error *err);

/**
 * Goes to the next step and lists its events in @p replay->events.
 *
 * @param more  set on TMS_OK: false when there is no further step
 * @return      TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_replay_next(tms_replay *replay, bool *more, tms_error *err);

void tms_replay_free(tms_replay *replay);

#endif
