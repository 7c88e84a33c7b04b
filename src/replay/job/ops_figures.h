/* Figures of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025)
 * for a job of operations. None of them includes the time between an operation and those that it
 * follows: T is the job's time without it, and the ideal is T with all operations at the ideal time
 * of their type. */
#ifndef TMERGE_REPLAY_OPS_FIGURES_H
#define TMERGE_REPLAY_OPS_FIGURES_H

#include "replay/graph/ops_events.h"
#include "replay/job/replay_job.h"

/** Weight sets for these figures (tm_reduce). */
enum { TM_OPS_SET_RECORDED, TM_OPS_SET_IDEAL, TM_N_OPS_SETS };

/** The tm_weigh function for these sets; it needs no context. */
void tm_ops_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

/** The figures. The caller owns the arrays. */
typedef struct tm_ops_figures {
    const bool *counts; /* [n_steps] steps that the figures cover; NULL: all */
    int64_t total_ns;   /* T */
    int64_t ideal_ns;   /* T_ideal; S = T / T_ideal */
    int64_t workers_ns; /* T with the worst 3 % of ranks (rounded up, largest S_w) at the ideal; M_w
                           = (T - workers) / (T - T_ideal) */
    int64_t stage_ns;   /* same with the ranks of the last stage, for M_s; -1 without pipeline */
    int64_t *ranks_ns;  /* [n_ranks] S_w x T_ideal */
    int64_t *stages_ns; /* [n_ranks] same for the rank's stage */
    int64_t *ends_ns;   /* [n_steps] end of each step in a replay without lags */
} tm_ops_figures;

/**
 * Computes the figures. S_w of a rank is the smaller of two values, one for its data rank and one
 * for its stage: T with all ranks outside that data rank or stage at the ideal, divided by T_ideal.
 * If ranks are equal, the lower rank counts as worse.
 *
 * @param replay  with TM_N_OPS_SETS sets
 * @param places  [n_ranks] places of the replay's ranks, in their order @param out its arrays are
 * allocated
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) TM_MUST_CHECK;

#endif
