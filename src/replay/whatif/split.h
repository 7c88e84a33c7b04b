/* Compares the device work of the stages of a pipeline.
 *
 * Work is the time of a rank's compute kernels. If some stage has only one rank, a slow GPU could
 * look like more work. In this case, each kernel counts with the usual time of all kernels of its
 * name and shape in the job. */
#ifndef TMERGE_REPLAY_SPLIT_H
#define TMERGE_REPLAY_SPLIT_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** A rank's kernels of one name and launch shape. Sent as bytes. */
typedef struct tm_split_kernel {
    uint32_t name;   /* name id */
    int32_t grid[3]; /* -1 if not recorded */
    int64_t stage, rank, calls, total_ns;
    int64_t layers; /* number of layers of the rank, as in tm_split_stage */
} tm_split_kernel;

/** A stage. Sent as bytes. */
typedef struct tm_split_stage {
    int64_t stage, ranks;
    int64_t work_ns;   /* work of the median rank (of two, the one with less work) per step */
    int64_t usual_ns;  /* the same, but each kernel counts with its usual time in the job */
    int64_t own_ns;    /* part of usual_ns in kernels that no other stage runs */
    int64_t spread_ns; /* difference between the most and the least work of the stage's ranks */
    int64_t layers;    /* how often a pass of the stage repeats the same kernels; 0: unknown */
    int64_t differs;   /* 1: reported as different from the other stages */
    int64_t calls;     /* number of kernels of the median rank per step */
    double factors[2]; /* factors that change the stage's work, and its number of kernels, to those
                          of the mean stage */
} tm_split_stage;

/**
 * Appends a rank's compute kernels in the steps that count.
 * @param stage   stage of the rank, from 0
 * @param counts  [n_steps] the step of the timeline counts
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_collect(const tm_timeline *timeline, int64_t stage, const bool *counts,
                           tm_vec *kernels, tm_error *err) TM_MUST_CHECK;

/**
 * Compares the stages. Candidates are the stages whose excess of work over the mean is at least
 * half of the largest excess. They have more work if the smallest candidate is above the largest
 * other stage by 3 % and by three times the median spread of a stage. If most stages have more
 * work, the other stages are reported as different instead.
 * @param kernels  of tm_split_kernel, of all ranks; the call sorts them
 * @param n_steps  number of steps in which the kernels were collected
 * @param stages   of tm_split_stage, appended in order; nothing if no stage has more work
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages,
                           tm_error *err) TM_MUST_CHECK;

#endif
