/* Finds waits that are an effect of profiling, not of the job: if profilers start one after
 * another, the ranks whose profilers started first wait in a collective for ranks whose profilers
 * started last. */
#ifndef TMERGE_MPI_OPENING_H
#define TMERGE_MPI_OPENING_H

#include <mpi.h>

#include "timeline/collectives.h"

/**
 * Excludes the opening: the time before the profilers of all ranks were running. An operation shows
 * an opening if some member waited in it before another member's recording started. This part of
 * the wait must be at least half of the wait and at least 1/TM_OPENING_SHARE of the waiting
 * member's recording. The opening then ends when the last member of the operation arrives. The call
 * sets `open_ns` of the spans of all members to that time, moves earlier starts of steps to that
 * time, and removes the waits of the operation. Collective: over comm.
 * @param timelines    [n] timelines of this process
 * @param collectives  operations matched by this process, on the job's clock
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_opening(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

/** An opening takes at least this fraction of a recording: 1 / TM_OPENING_SHARE. */
enum { TM_OPENING_SHARE = 20 };

#endif
