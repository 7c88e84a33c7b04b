/* How well a rank's kernels use its GPU, as far as profilers record it. */
#ifndef TMERGE_GPU_USE_H
#define TMERGE_GPU_USE_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** How kernels use the GPU. Only time within the given set counts. Kernels of zero length do not
 * count. */
typedef struct tm_gpu_use {
    bool has_blocks;     /* the number of blocks per multiprocessor is known for some kernel */
    double filled_ns;    /* integral over time of min(1, blocks per multiprocessor, summed over the
                            running kernels) */
    int64_t kernel_ns;   /* summed time of kernels */
    int64_t occupied_ns; /* summed time of kernels with an occupancy */
    double occupancy;    /* sum of time x occupancy over these kernels [% ns] */
    int64_t compute_ns;  /* summed time of kernels that do not communicate */
    int64_t tensor_ns;   /* part of it in kernels that use tensor cores, by their names */
} tm_gpu_use;

/** Computes the figures of a rank. @param within a normalised set @return false if out of memory */
bool tm_gpu_use_find(const tm_rank_view *view, const tm_intervals *within, tm_gpu_use *out);

#endif
