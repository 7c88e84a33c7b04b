/* Faults of single ranks: slowness, recordings that start late, collectives that end late, and lost
 * records. Each fault has its own random numbers from the job's seed. So the functions return the
 * same results in any order, and however often they are called. */
#ifndef TMERGE_SYNTH_INJECTED_FAULTS_H
#define TMERGE_SYNTH_INJECTED_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/placement.h"

/* Returns the rank that is slow in the step with this index; -1 if none is. */
int64_t tms_injected_slow_rank(const tms_config *config, int64_t step);

/* Returns the time that a rank takes for a step [1e-6 of a normal rank's time]. Returns 0 if the
 * rank is not slow. Includes --slow-rank, --rotating, and --slow for whole steps, but not --slow
 * for single kernels. */
int64_t tms_injected_slow_ppm(const tms_config *config, int64_t rank, int64_t step);

/* Returns the work of a rank in a step [1e-6 of the mean]. All ranks of a copy of the model have
 * the same work. */
int64_t tms_injected_share_ppm(const tms_config *config, const tms_placement *place, int64_t step);

/* Returns the factor [1e-6] by which the duration of a compute kernel is multiplied. @p kernel is
 * the kernel's index in its step. The factor is the product of --slow for single kernels, of a
 * random factor that all ranks of a host share, and, for a few kernels, of a hiccup. */
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
