/* Figures of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025)
 * for a job of operations. None includes the time between an operation and those that it follows: T
 * is the job's time without these times, and T_ideal is T with all operations at the ideal time of
 * their type. */
#ifndef TMERGE_REPLAY_OPS_FIGURES_H
#define TMERGE_REPLAY_OPS_FIGURES_H

#include "replay/graph/ops_events.h"
#include "replay/job/replay_job.h"

/** Weight sets (tm_reduce) for these figures. */
enum { TM_OPS_SET_RECORDED, TM_OPS_SET_IDEAL, TM_N_OPS_SETS };

/** The tm_weigh function for these sets; it needs no context. */
void tm_ops_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** The figures. The caller owns the arrays. */
typedef struct tm_ops_figures {
    const bool *counts; /* [n_steps] the steps that the figures cover; NULL: all */
    int64_t total_ns;   /* T */
    int64_t ideal_ns;   /* T_ideal; S = T / T_ideal */
    int64_t workers_ns; /* T with the worst 3 % of ranks (rounded up, largest S_w) at the ideal; M_w
                           = (T - workers) / (T - T_ideal) */
    int64_t stage_ns;   /* T with the last stage's ranks at the ideal; M_s = (T - stage) / (T -
                           T_ideal); -1 without pipeline */
    int64_t *ranks_ns;  /* [n_ranks] S_w x T_ideal */
    int64_t *stages_ns; /* [n_ranks] the same for the rank's stage */
    int64_t *ends_ns;   /* [n_steps] end of each step in a replay without unexplained time */
} tm_ops_figures;

/**
 * Computes the figures. S_w of a rank is the smaller of two values, for its data rank and its
 * stage: T with all ranks outside of this data rank (or stage) at the ideal, divided by T_ideal. Of
 * equal ranks, the lower one counts as worse.
 * @param replay  with TM_N_OPS_SETS sets
 * @param places  [n_ranks] places of the replay's ranks, in their order
 * @param out     its arrays are allocated
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) TM_MUST_CHECK;

#endif
