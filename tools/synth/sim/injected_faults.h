/* Faults of single ranks: slowness, recordings that start late, ends that lag, lost records. Each
 * is drawn by itself from the job's seed, so it does not matter who asks, or how often. */
#ifndef TMERGE_SYNTH_INJECTED_FAULTS_H
#define TMERGE_SYNTH_INJECTED_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/placement.h"

/* Returns the rank that is slow in the step with this index; -1: none. */
int64_t tms_injected_slow_rank(const tms_config *config, int64_t step);

/* Returns the slowdown of a rank in a step by --slow-rank, --rotating and --slow together [1e-6 of
 * a normal rank's time]; 0: not slow. Excludes slowdowns of single kernels. */
int64_t tms_injected_slow_ppm(const tms_config *config, int64_t rank, int64_t step);

/* Returns the work of a rank in a step [1e-6 of the mean]; equal on all ranks of a model copy. */
int64_t tms_injected_share_ppm(const tms_config *config, const tms_placement *place, int64_t step);

/* Returns the other factors of the compute kernel with this index in its step [1e-6 of its mean]:
 * --slow, the factor of its host, hiccups. */
int64_t tms_injected_kernel_ppm(const tms_config *config, const tms_placement *place, int64_t step,
                                int64_t kernel);

/* Returns the number of steps before a rank's recording starts. */
int64_t tms_injected_skipped(const tms_config *config, int64_t rank);

/* Returns whether a rank's file lacks the record of a communication kernel. `step` counts from 0.
 */
bool tms_injected_lost(const tms_config *config, int64_t step, int64_t part);

/* Returns the rank's extra delay at the end of a collective [ns]; `step` counts from 0. */
int64_t tms_injected_late_ns(const tms_config *config, int64_t step, int64_t part);

#endif
