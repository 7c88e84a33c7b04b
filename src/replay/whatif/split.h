/* Compares the device work of the stages of a pipeline.
 *
 * Work is the time of a rank's compute kernels. If some stage has only one rank, a slow GPU could
 * look like more work. Each kernel then counts with the usual time of its name and shape in the
 * job. */
#ifndef TMERGE_REPLAY_SPLIT_H
#define TMERGE_REPLAY_SPLIT_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** A rank's kernels of one name and launch shape. Sent as bytes. */
typedef struct tm_split_kernel {
    uint32_t name;   /* name id */
    int32_t grid[3]; /* -1 if not recorded */
    int64_t stage, rank, calls, total_ns;
    int64_t layers; /* layers of the rank; see tm_split_stage */
} tm_split_kernel;

/** A stage. Sent as bytes. */
typedef struct tm_split_stage {
    int64_t stage, ranks;
    int64_t work_ns;   /* work of its lower median rank in a step */
    int64_t usual_ns;  /* work_ns with each kernel at its usual time in the job */
    int64_t own_ns;    /* part of usual_ns in kernels that no other stage runs */
    int64_t spread_ns; /* maximum minus minimum of its ranks' work */
    int64_t layers;    /* how often its passes repeat the same kernels; 0: unknown */
    int64_t differs;   /* 1: reported as different from the others */
    int64_t calls;     /* kernels of its lower median rank in a step */
    double factors[2]; /* factors that make its work, and its number of kernels, those of the mean
                          stage */
} tm_split_stage;

/**
 * Appends a rank's compute kernels in the steps that count.
 * @param stage   of the rank, from 0
 * @param counts  [n_steps] which steps of the timeline count
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_collect(const tm_timeline *timeline, int64_t stage, const bool *counts,
                           tm_vec *kernels, tm_error *err) TM_MUST_CHECK;

/**
 * Compares the stages. Candidates are the stages whose excess over the mean is at least half of the
 * largest excess. They have more work if the smallest of them is above the largest other stage by 3
 * % and by three times the median spread of a stage. If most stages have more work, the others are
 * reported as different instead.
 * @param kernels  of tm_split_kernel, of all ranks; sorted
 * @param n_steps  number of steps covered
 * @param stages   of tm_split_stage, appended in order; nothing if none has more work
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages,
                           tm_error *err) TM_MUST_CHECK;

#endif
