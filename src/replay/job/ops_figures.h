/* Figures of the paper "Understanding Stragglers in Large Model Training Using What-if Analysis"
 * (OSDI 2025), for a job whose traces record operations. T is the job's time without the times
 * between an operation and the operations that it follows. T_ideal is T if all operations take the
 * ideal time of their type. */
#ifndef TMERGE_REPLAY_OPS_FIGURES_H
#define TMERGE_REPLAY_OPS_FIGURES_H

#include "replay/graph/ops_events.h"
#include "replay/job/replay_job.h"

/** Weight sets (tm_reduce) for these figures. */
enum { TM_OPS_SET_RECORDED, TM_OPS_SET_IDEAL, TM_N_OPS_SETS };

/** tm_weigh function for these sets; ignores its context. */
void tm_ops_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** The figures. The caller must allocate and free the arrays. */
typedef struct tm_ops_figures {
    const bool *counts; /* borrowed; [n_steps] whether the figures cover the step; NULL: they cover
                           all steps */
    int64_t total_ns;   /* T */
    int64_t ideal_ns;   /* T_ideal; the slowdown of the job is S = T / T_ideal */
    /* T if the worst 3 % of ranks (rounded up) are at the ideal. The worst ranks have the largest
     * S_w. M_w = (T - workers_ns) / (T - T_ideal). */
    int64_t workers_ns;
    /* T if the ranks of the last stage are at the ideal; -1 without a pipeline. M_s = (T -
     * stage_ns) / (T - T_ideal). */
    int64_t stage_ns;
    int64_t *ranks_ns; /* [n_ranks] S_w of each rank, multiplied by T_ideal */
    /* [n_ranks] the value of each rank's stage (see tm_ops_figures_find), multiplied by T_ideal */
    int64_t *stages_ns;
    int64_t *ends_ns; /* [n_steps] end of each step if all operations are as recorded, without the
                         times between them */
} tm_ops_figures;

/**
 * Computes the figures. S_w of a rank is the smaller of two values: one for its data rank, and one
 * for its stage. To find the value for a data rank, all ranks of other data ranks are set to the
 * ideal. The value is the resulting T, divided by T_ideal. The value for a stage is found in the
 * same way. Of ranks with the same S_w, the lowest counts as the worst.
 *
 * @param replay  a job with TM_N_OPS_SETS sets
 * @param places  [n_ranks] place of each rank, in the order of the replay's ranks
 * @param out     the caller must set `counts` and allocate the arrays
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) TM_MUST_CHECK;

#endif
