/* Compares the work of the stages of a pipeline, over all processes. */
#ifndef TMERGE_MPI_REPLAY_EVEN_STAGES_H
#define TMERGE_MPI_REPLAY_EVEN_STAGES_H

#include "changes.h"

/** The stages of a pipeline, and the factors that would give each stage as much work as the mean
 * stage has. */
typedef struct tm_split {
    tm_vec stages; /* vector of tm_split_stage; empty if there is no pipeline, or if all stages have
                      equal work */
    double *of_rank; /* owned; [ranks->n][2] factors of each rank (see tm_change) */
    uint8_t *pairs;  /* owned; see tm_sets */
} tm_split;

/**
 * Compares the work of the stages, in the steps of the result that all ranks recorded.
 *
 * Collective: over the ranks' comm.
 * @param out  the same on every process except for of_rank; the caller frees it even if the call
 *             fails
 * @return     TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_split(const tm_replay_ranks *ranks, const tm_replay_result *result, tm_split *out,
                       tm_error *err) TM_MUST_CHECK;
void tm_mpi_split_free(tm_split *split);

/**
 * Appends a change that gives all stages equal work, unless their work is equal already. Returns
 * false when out of memory.
 * @param more  vector of tm_change_more
 */
bool tm_mpi_split_change(const tm_split *split, tm_vec *more) TM_MUST_CHECK;

#endif
