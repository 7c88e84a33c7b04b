/* Faults of single ranks: slowness, recordings that start late, ends that lag, lost records. Each
 * is drawn separately from the job's seed, so that calls in any order, or repeated ones, get the
 * same result. */
#ifndef TMERGE_SYNTH_INJECTED_FAULTS_H
#define TMERGE_SYNTH_INJECTED_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/placement.h"

/* Returns the rank that is slow in the step with this index; -1 if none is. */
int64_t tms_injected_slow_rank(const tms_config *config, int64_t step);

/* Returns the slowdown of a rank in a step from --slow-rank, --rotating and --slow together [1e-6
 * of a normal rank's time]; 0: not slow. Slowdowns of single kernels are not included. */
int64_t tms_injected_slow_ppm(const tms_config *config, int64_t rank, int64_t step);

/* Returns the work of a rank in a step [1e-6 of the mean]. It is the same on all ranks of a copy of
 * the model. */
int64_t tms_injected_share_ppm(const tms_config *config, const tms_placement *place, int64_t step);

/* Returns a factor [1e-6] of the duration of the compute kernel with this index in its step: --slow
 * for single kernels, the factor that the ranks of its host share, and hiccups. */
int64_t tms_injected_kernel_ppm(const tms_config *config, const tms_placement *place, int64_t step,
                                int64_t kernel);

/* Returns how many steps pass before a rank's recording starts. */
int64_t tms_injected_skipped(const tms_config *config, int64_t rank);

/* Returns whether a rank's file lacks the record of a communication kernel. @p step counts from 0.
 */
bool tms_injected_lost(const tms_config *config, int64_t step, int64_t part);

/* Returns the delay [ns] of a collective's end on a rank. @p step counts from 0. */
int64_t tms_injected_late_ns(const tms_config *config, int64_t step, int64_t part);

#endif
