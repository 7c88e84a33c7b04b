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
    /* work of the median rank per step; of two median ranks, the rank with less work is used */
    int64_t work_ns;
    int64_t usual_ns;  /* as work_ns, but each kernel counts with its usual time in the job */
    int64_t own_ns;    /* part of usual_ns in kernels that no other stage runs */
    int64_t spread_ns; /* difference between the most and the least work of the stage's ranks */
    int64_t layers;    /* how often a pass of the stage repeats the same kernels; 0: unknown */
    int64_t differs;   /* 1: the stage is reported as different from the other stages */
    int64_t calls;     /* number of kernels of the median rank per step */
    /* factors that turn the stage's work and its number of kernels into those of the mean stage */
    double factors[2];
} tm_split_stage;

/**
 * Appends a rank's compute kernels in the steps that count.
 *
 * @param stage    stage of the rank, from 0
 * @param counts   [n_steps] whether each step of the timeline counts
 * @param kernels  vector of tm_split_kernel: the kernels are appended
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_split_collect(const tm_timeline *timeline, int64_t stage, const bool *counts,
                           tm_vec *kernels, tm_error *err) TM_MUST_CHECK;

/**
 * Compares the stages. The excess of a stage is its work minus the mean work. Candidates are the
 * stages whose excess is at least half of the largest excess. They have more work than the other
 * stages if the candidate with the least work is above the other stage with the most work by at
 * least 3 %, and by three times the median spread of a stage. If most stages have more work, the
 * other stages are reported as different instead.
 *
 * @param kernels  vector of tm_split_kernel: kernels of all ranks; this function sorts them
 * @param n_steps  number of steps in which the kernels were collected
 * @param stages   vector of tm_split_stage: the stages are appended in order, or none if no stage
 *                 has more work
 */
tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages,
                           tm_error *err) TM_MUST_CHECK;

#endif
