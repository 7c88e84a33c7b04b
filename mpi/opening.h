/* Finds waits that are an effect of profiling, not of the job. If profilers are started one after
 * another, ranks whose profiler started first wait in a collective for those whose profiler started
 * last. */
#ifndef TMERGE_MPI_OPENING_H
#define TMERGE_MPI_OPENING_H

#include <mpi.h>

#include "timeline/collectives.h"

/**
 * Excludes the opening: the time before the profilers of all ranks were running. An operation shows
 * an opening if a member waited in it before another member's recording started, for at least half
 * of its wait and at least 1/TM_OPENING_SHARE of its recording. For all members, the opening ends
 * when the last one arrives: `open_ns` of their spans is set to that time, their steps start no
 * earlier, and the operation gets no waits. Collective: over comm.
 * @param timelines    [n] this process's
 * @param collectives  operations matched by this process, on the job's clock
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_opening(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

/** An opening takes at least the recording's length divided by this. */
enum { TM_OPENING_SHARE = 20 };

#endif
