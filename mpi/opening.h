/* Profilers of a job that were opened one after the other: the ranks whose were open first waited
 * in a collective for those whose were opened last, which says nothing of the job. */
#ifndef TMERGE_MPI_OPENING_H
#define TMERGE_MPI_OPENING_H

#include <mpi.h>

#include "timeline/collectives.h"

/**
 * Sets apart what was before the profilers of all ranks were open.
 *
 * An operation shows an opening where a member had begun to wait in it before the recording of
 * another member began, and that is at least half of the wait, and one part in TM_OPENING_SHARE of
 * the member's recording. The opening of all of its members lasts until the last came to it:
 * `open_ns` of their spans is then, their steps begin no earlier, and nobody waited in the
 * operation. Only an operation of the first moments of a recording can show one: who comes last has
 * just opened.
 *
 * Collective: over comm.
 * @param timelines    [n] this process's
 * @param collectives  what this process matched, on the job's clock
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_opening(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

/** The least length of an opening: the recording divided by this. */
enum { TM_OPENING_SHARE = 20 };

#endif
