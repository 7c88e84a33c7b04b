/* Compares the device work of the stages of a pipeline.
 *
 * Work is the time of a rank's compute kernels. If some stage has only one rank, the usual time in
 * the job of kernels with the same name and shape is used instead, because otherwise a slow GPU
 * would look like more work. */
#ifndef TMERGE_REPLAY_SPLIT_H
#define TMERGE_REPLAY_SPLIT_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** A rank's kernels of one name and launch shape. Sent as bytes. */
typedef struct tm_split_kernel {
    uint32_t name;   /* name id */
    int32_t grid[3]; /* -1 if not recorded */
    int64_t stage, rank, calls, total_ns;
    int64_t layers; /* layers of the rank, as in tm_split_stage */
} tm_split_kernel;

/** A stage. Sent as bytes. */
typedef struct tm_split_stage {
    int64_t stage, ranks;
    int64_t work_ns;   /* work of a rank in a step: that of the lower median rank */
    int64_t usual_ns;  /* the same, with each kernel at its usual time in the job */
    int64_t own_ns;    /* part of usual_ns in kernels that no other stage runs */
    int64_t spread_ns; /* maximum - minimum of the work of its ranks */
    int64_t layers;    /* how often its passes repeat the same kernels; 0 unknown */
    int64_t differs;   /* 1: reported as different from the others */
    int64_t calls;     /* number of kernels of the lower median rank in a step */
    double factors[2]; /* factors that scale its work, and its number of kernels, to the mean of the
                          stages */
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
 * Compares the stages. Candidates are those whose excess over the mean is at least half of the
 * largest excess. They have more work if the smallest of them exceeds the largest of the others by
 * 3 % and by three times the median spread of a stage. The minority is then reported as different,
 * be it the stages with more work or the others.
 * @param kernels  of tm_split_kernel, of all ranks; sorted
 * @param n_steps  number of steps covered
 * @param stages   of tm_split_stage, appended in order; nothing if none has more work
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages,
                           tm_error *err) TM_MUST_CHECK;

#endif
