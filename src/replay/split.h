/* Whether the stages of a pipeline have equal work on their devices.
 *
 * Work is what a rank's compute kernels take; where a stage has one rank, what is usual in the job
 * for kernels of their names and launch shapes, for nobody tells a slow GPU from more work then. */
#ifndef TMERGE_REPLAY_SPLIT_H
#define TMERGE_REPLAY_SPLIT_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** What a rank ran of one name and launch shape. Sent as bytes. */
typedef struct tm_split_kernel {
    uint32_t name;   /* name id */
    int32_t grid[3]; /* -1 where it was not recorded */
    int64_t stage, rank, calls, total_ns;
    int64_t layers; /* of the rank: as in tm_split_stage */
} tm_split_kernel;

/** A stage. Sent as bytes. */
typedef struct tm_split_stage {
    int64_t stage, ranks;
    int64_t work_ns;   /* of one of its ranks in a step: of several the lower median */
    int64_t usual_ns;  /* the same with each kernel at what is usual in the job */
    int64_t own_ns;    /* of that, in kernels that no other stage runs */
    int64_t spread_ns; /* by how much the work of its ranks differs */
    int64_t layers;    /* how often its passes repeat the same kernels; 0 where that is not known */
    int64_t differs;   /* 1: it is one of those that are said to differ */
    int64_t calls;     /* kernels of that rank in a step */
    double factors[2]; /* what brings work, and kernels, to the mean of the stages */
} tm_split_stage;

/**
 * Adds a rank's compute kernels in steps that count.
 * @param stage   of the rank, from 0 on
 * @param counts  [n_steps] of the timeline
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_collect(const tm_timeline *timeline, int64_t stage, const bool *counts,
                           tm_vec *kernels, tm_error *err) TM_MUST_CHECK;

/**
 * Compares the stages. Those have more work that are above the mean of all by at least half of what
 * the largest is, if the least of them is above the most of the others by 3 % and three times the
 * median spread of a stage. They differ; where they are most of the stages, the others do.
 * @param kernels  of tm_split_kernel, of all ranks; sorted
 * @param n_steps  that they are of
 * @param stages   of tm_split_stage, appended to in order; nothing where none has more
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages,
                           tm_error *err) TM_MUST_CHECK;

#endif
