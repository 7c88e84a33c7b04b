/* What a job's GPUs did before the first step that is marked, and had done when it began: warming
 * up, loading a model. The first step does not count from the job's first GPU event then, but from
 * where the last rank began it. */
#ifndef TMERGE_LEAD_IN_H
#define TMERGE_LEAD_IN_H

#include "draft.h"

/** Stands for a step before all others in graphs and on paths; no row is of it. */
#define TM_STEP_LEAD_IN (INT64_MIN + 1)

/** What a rank has before its first step. */
typedef struct tm_lead_in {
    int64_t step; /* the number of its first step; INT64_MAX without any GPU event in steps */
    bool any;     /* GPU events that no step holds were launched before it */
    bool joined;  /* they reach into it: the recording begins in the middle of the work */
} tm_lead_in;

tm_lead_in tm_lead_in_of(const tm_draft *draft);

/** Whether an event was launched before the first step, and is in none. */
bool tm_lead_in_has(const tm_draft *draft, const tm_part_event *event);

/** The first event of the first step, in the order of launches; TM_NO_PART for none. */
uint32_t tm_lead_in_behind(const tm_draft *draft);

#endif
