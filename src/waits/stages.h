/* Which stage of a pipeline a rank is of, from who sends to whom. */
#ifndef TMERGE_STAGES_H
#define TMERGE_STAGES_H

#include "timeline/collectives.h"

/** The first transfer from one rank to another. Sent as bytes. */
typedef struct tm_stage_edge {
    int64_t from, to; /* ranks */
    int64_t begin_ns; /* of the sender's kernel, on the job's clock */
    int64_t end_ns;   /* of the receiver's */
} tm_stage_edge;

/** A rank of a pipeline. */
typedef struct tm_stage {
    int64_t rank, stage; /* stages from 0, the first to send */
} tm_stage;

/** Adds the first transfer of each pair and direction that this process matched. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_stages_edges(const tm_collectives *collectives, tm_vec *edges,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Finds the stages. A stage sends on what it has received: a transfer to a rank that had sent
 * something before its end is none from a stage to the next (ranks of a ring pass on parts of a
 * context, and all begin at once). Who is first to transfer with another stage is the earlier of
 * both; stage 0 is who sends before it receives anything, and each other stage is one behind the
 * nearest before it.
 * Where a rank has more than four partners it is no pipeline (an all-to-all of sends and receives),
 * and nobody has a stage.
 *
 * @param edges   [n] of all processes, in any order; sorted
 * @param stages  of tm_stage, appended to, ascending in rank
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_stages_find(tm_stage_edge *edges, size_t n, tm_vec *stages,
                         tm_error *err) TM_MUST_CHECK;

/** What this process matched of the pipeline: stages and senders are of the job, transfers its own.
 * @param stages  as tm_stages_find made them */
tm_pipeline_use tm_stages_pipeline(const tm_collectives *collectives, const tm_vec *stages);

/** The stage of a rank, -1 for none. @param stages  as tm_stages_find made them */
int64_t tm_stage_of(const tm_vec *stages, int64_t rank);

#endif
