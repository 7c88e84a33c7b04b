/* The plan of a job: starts and ends of every collective on every rank. Ranks depend on one another
 * only through collectives. With the plan, each rank can therefore be simulated again separately,
 * once for each section of its file. */
#ifndef TMERGE_SYNTH_SIM_PLAN_H
#define TMERGE_SYNTH_SIM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "synth/base/catalogue.h"
#include "synth/base/config.h"
#include "synth/base/error.h"
#include "synth/base/event_list.h"
#include "synth/base/synth_groups.h"

/* A collective of a step, or a message between stages. All steps have the same collectives and
 * messages. */
typedef struct tms_instance {
    tms_collective what; /* TMS_SEND means both sides of a message */
    tms_dtype dtype;
    int64_t bytes;
    int64_t channel; /* index in the list of communicators */
    int64_t sender;  /* for a message: index of the sending rank among the members */
    bool known;
} tms_instance;

typedef struct tms_plan {
    const tms_config *config; /* borrowed */
    tms_groups groups;        /* owned */
    tms_instance *instances;  /* [groups.n_instances], owned */
    int64_t *begin_ns;        /* owned; true times, indexed by tms_plan_index */
    int64_t *end_ns;
    int64_t job_end_ns; /* true time at which the last rank's run ends */
} tms_plan;

/** Simulates the whole job, and keeps only the starts and ends of collectives. This takes 16 bytes
 * per kernel, a hundredth of the kernel's text in a trace.
 * @param config must outlive the plan
 * @param plan    set only on TMS_OK; free with tms_plan_free
 * @return        TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_plan_build(tms_plan *plan, const tms_config *config, tms_error *err);

void tms_plan_free(tms_plan *plan);

/* Returns the index at which the plan's arrays have the times of a part (see tms_channel_part). @p
 * step counts from 0. */
static inline size_t tms_plan_index(const tms_plan *plan, int64_t step, int64_t part) {
    return (size_t)(step * plan->groups.n_parts + part);
}

/* Returns the index of an instance's times on its first member. The times of the other members
 * follow. */
static inline size_t tms_plan_first(const tms_plan *plan, int64_t step, int64_t instance) {
    const tms_channel *channel = &plan->groups.channels[plan->instances[instance].channel];

    return tms_plan_index(
        plan, step, channel->base + (instance - channel->first_instance) * channel->ranks.size);
}

/* Returns whether the traces of all members contain the kernel of this instance. @p step counts
 * from 0. */
bool tms_plan_complete(const tms_plan *plan, int64_t step, int64_t instance);

#endif
