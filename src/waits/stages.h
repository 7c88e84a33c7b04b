/* Finds the pipeline stage of each rank from its sends and receives. */
#ifndef TMERGE_STAGES_H
#define TMERGE_STAGES_H

#include "timeline/collectives.h"

/** The first transfer from one rank to another. Sent as bytes. */
typedef struct tm_stage_edge {
    int64_t from, to; /* ranks */
    int64_t begin_ns; /* start of the sender's kernel, on the job's clock */
    int64_t end_ns;   /* end of the receiver's kernel, on the job's clock */
} tm_stage_edge;

/** A rank of a pipeline. */
typedef struct tm_stage {
    int64_t rank, stage; /* stages count from 0, the stage that sends first */
} tm_stage;

/** Appends the first transfer from each rank to each other rank, as far as this process matched
 * such transfers. TM_OK; TM_ERR_FAULT. */
tm_status tm_stages_edges(const tm_collectives *collectives, tm_vec *edges,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Finds the stages. A stage first receives and then sends to the next stage. So a transfer does not
 * lead to the next stage if its receiver sent something before the transfer ended. (In a ring, for
 * example, all ranks start to send at the same time.) Of the remaining transfers between two ranks,
 * the first one leads from the earlier to the later stage. A rank that sends before it receives
 * anything is stage 0; every other rank is one stage after the lowest stage that sends to it. If a
 * rank exchanges data with more than four others, the job is not a pipeline (but an all-to-all of
 * sends and receives), and no rank gets a stage.
 *
 * @param edges   [n] of all processes, in any order; reordered and overwritten
 * @param stages  vector of tm_stage, appended to, ascending by rank
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_stages_find(tm_stage_edge *edges, size_t n, tm_vec *stages,
                         tm_error *err) TM_MUST_CHECK;

/** Counts the stages of the job, the ranks of the first stage, and the transfers from the first to
 * the second stage that this process matched.
 * @param stages  from tm_stages_find */
tm_pipeline_use tm_stages_pipeline(const tm_collectives *collectives, const tm_vec *stages);

/** Returns the stage of a rank, or -1. @param stages  from tm_stages_find */
int64_t tm_stage_of(const tm_vec *stages, int64_t rank);

#endif
