/* When every all-reduce begins and ends on every rank: the part of a simulation that couples the
 * ranks. With it, each rank can be replayed alone, as often as its file has sections. */
#ifndef TMERGE_SYNTH_PLAN_H
#define TMERGE_SYNTH_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"

typedef struct tms_plan {
    const tms_config *config; /* borrowed */
    int64_t *begin_ns;        /* owned; see tms_plan_index */
    int64_t *end_ns;
} tms_plan;

/**
 * Simulates the whole job, keeping nothing but the all-reduces.
 *
 * @param config  kept by reference; must outlive the plan
 * @param plan    set only on TMS_OK; free with tms_plan_free
 * @return        TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_plan_build(tms_plan *plan, const tms_config *config, tms_error *err);

void tms_plan_free(tms_plan *plan);

/* Where rank 0's times of one all-reduce stand; those of rank r follow at + r. `step` counts
 * from 0. */
static inline size_t tms_plan_index(const tms_config *config, int64_t step, int64_t bucket) {
    return (size_t)((step * config->buckets + bucket) * config->ranks);
}

#endif
