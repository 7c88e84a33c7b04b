/* Figures of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025),
 * for a job of operations. T is the job's time without the times between each operation and the
 * operations that it follows. T_ideal is T if all operations take the ideal time of their type. */
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
    int64_t ideal_ns;   /* T_ideal; S = T / T_ideal */
    int64_t workers_ns; /* T with the worst 3 % of ranks (rounded up, largest S_w) at the ideal; M_w
                           = (T - workers) / (T - T_ideal) */
    int64_t stage_ns;   /* T with the last stage's ranks at the ideal; M_s = (T - stage) / (T -
                           T_ideal); -1 without pipeline */
    int64_t *ranks_ns;  /* [n_ranks] S_w x T_ideal of the rank */
    int64_t *stages_ns; /* [n_ranks] the same for the rank's stage */
    int64_t *ends_ns;   /* [n_steps] end of each step if all operations are as recorded, without the
                           times between them */
} tm_ops_figures;

/**
 * Computes the figures. S_w of a rank is the smaller of two values, one for its data rank and one
 * for its stage: T with all ranks outside of this data rank (or stage) at the ideal, divided by
 * T_ideal. Of ranks with the same S_w, the lower one counts as worse.
 * @param replay  with TM_N_OPS_SETS sets
 * @param places  [n_ranks] places of the replay's ranks, in their order
 * @param out     `counts` must be set, and the arrays allocated
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) TM_MUST_CHECK;

#endif
