/* The figures of "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI
 * 2025), of a job of operations. In all of them nothing lies between an operation and what it
 * follows: T is what the job takes then, and ideal what it takes with all operations at what is
 * ideal for their type. */
#ifndef TMERGE_REPLAY_OPS_FIGURES_H
#define TMERGE_REPLAY_OPS_FIGURES_H

#include "ops_draft.h"
#include "replay/job.h"

/** The weights that a rank is reduced with (tm_reduce) for these figures. */
enum { TM_OPS_SET_RECORDED, TM_OPS_SET_IDEAL, TM_N_OPS_SETS };

/** A tm_weigh without context. */
void tm_ops_weigh(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                  int64_t *ns);

/** The arrays are the caller's. */
typedef struct tm_ops_figures {
    const bool *counts; /* [n_steps] the steps that all figures are of; NULL: all */
    int64_t total_ns;   /* T */
    int64_t ideal_ns;   /* T_ideal; S = T / T_ideal */
    int64_t workers_ns; /* T with the worst 3 % of ranks (rounded up) at the ideal: those with the
                           largest S_w; M_w = (T - workers) / (T - T_ideal) */
    int64_t stage_ns;   /* the same of the ranks of the last stage: M_s; -1 without pipeline */
    int64_t *ranks_ns;  /* [n_ranks] S_w x T_ideal */
    int64_t *stages_ns; /* [n_ranks] the same of the rank's stage */
    int64_t *ends_ns;   /* [n_steps] when each step ends, without any lag */
} tm_ops_figures;

/**
 * S_w of a rank is the lower of two: that of its data rank and that of its stage, each T with all
 * at the ideal but the ranks that share it, divided by T_ideal. Of equals the lower rank is worse.
 *
 * @param replay  of TM_N_OPS_SETS sets
 * @param places  [n_ranks] of its ranks, in their order
 * @param out     with its arrays
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) TM_MUST_CHECK;

#endif
