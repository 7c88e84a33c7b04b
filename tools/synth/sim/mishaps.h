/* What befalls single ranks: slowness, recordings that begin late, ends that lag, lost records.
 * Each is drawn by itself from the job's seed, so that whoever asks, and how often, changes
 * nothing. */
#ifndef TMERGE_SYNTH_MISHAPS_H
#define TMERGE_SYNTH_MISHAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/placement.h"

/* The rank that is slow in the step with this index; -1: none. */
int64_t tms_mishap_slow_rank(const tms_config *config, int64_t step);

/* How slow a rank is made in a step, by all that --slow-rank, --rotating and --slow say together
 * [1e-6 of a normal rank's time]; 0: not at all. Single kernels are not in it. */
int64_t tms_mishap_slow_ppm(const tms_config *config, int64_t rank, int64_t step);

/* What a rank has to compute in a step [1e-6 of the mean]: the same for all of one model copy. */
int64_t tms_mishap_share_ppm(const tms_config *config, const tms_placement *place, int64_t step);

/* What else lengthens the compute kernel at this place in its step: --slow, what its host's ranks
 * have in common, hiccups [1e-6 of its mean]. */
int64_t tms_mishap_kernel_ppm(const tms_config *config, const tms_placement *place, int64_t step,
                              int64_t kernel);

/* Steps that a rank's profiler comes too late for. */
int64_t tms_mishap_skipped(const tms_config *config, int64_t rank);

/* Whether the record of a communication kernel is missing in its rank's file; `step` counts from 0.
 */
bool tms_mishap_lost(const tms_config *config, int64_t step, int64_t part);

/* By how much a rank lags behind at the end of a collective, for a reason of its own [ns]; `step`
 * counts from 0. */
int64_t tms_mishap_late_ns(const tms_config *config, int64_t step, int64_t part);

#endif
