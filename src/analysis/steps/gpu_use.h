/* How well a rank's kernels use its GPU, as far as profilers tell. */
#ifndef TMERGE_GPU_USE_H
#define TMERGE_GPU_USE_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** Everything clipped to the given time. Zero-length kernels count nowhere. */
typedef struct tm_gpu_use {
    bool has_blocks;     /* a kernel has a number of blocks per multiprocessor */
    double filled_ns;    /* integral of min(1, sum of these over the kernels that run) */
    int64_t kernel_ns;   /* summed time of kernels, and .. */
    int64_t occupied_ns; /* .. of those with an occupancy, and .. */
    double occupancy;    /* .. the sum of time x occupancy [% ns] */
    int64_t compute_ns;  /* summed time of kernels that do not communicate, and .. */
    int64_t tensor_ns;   /* .. of those on tensor cores, by their names */
} tm_gpu_use;

/** @param within  a normal set  @return false when memory is out */
bool tm_gpu_use_find(const tm_rank_view *view, const tm_intervals *within, tm_gpu_use *out);

#endif
