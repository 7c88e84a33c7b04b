/* What the ranks did by themselves, brought together. */
#ifndef TMERGE_MPI_REPLAY_WORKS_H
#define TMERGE_MPI_REPLAY_WORKS_H

#include "ranks.h"
#include "replay/works.h"

/**
 * Sums what each rank did, and sends it to process 0.
 *
 * Collective: over the ranks' comm.
 * @param ranks  whose places have been compared; with items or crews still
 * @param out    empty; ranks on process 0, rows on all: none where ranks cannot be compared
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_works(const tm_replay_ranks *ranks, tm_works *out, tm_error *err) TM_MUST_CHECK;

#endif
