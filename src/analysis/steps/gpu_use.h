/* Computes how well a rank's kernels use its GPU, as far as profilers record this. */
#ifndef TMERGE_GPU_USE_H
#define TMERGE_GPU_USE_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** How kernels use the GPU. Counts only time in a given set, and only kernels with a duration. */
typedef struct tm_gpu_use {
    bool has_blocks;   /* whether the number of blocks per multiprocessor is known for any kernel */
    double filled_ns;  /* integral over time of min(1, blocks per multiprocessor of all running
                          kernels) [ns] */
    int64_t kernel_ns; /* sum of the kernels' durations */
    int64_t occupied_ns; /* sum of the durations of kernels whose occupancy is known */
    double occupancy;    /* sum of duration x occupancy over these kernels [% ns] */
    int64_t compute_ns;  /* sum of the durations of kernels that do not communicate */
    int64_t tensor_ns;   /* part of compute_ns in kernels whose names show tensor cores */
} tm_gpu_use;

/** Computes the figures of a rank. @param within a normalised set @return false if out of memory */
bool tm_gpu_use_find(const tm_rank_view *view, const tm_intervals *within, tm_gpu_use *out);

#endif
