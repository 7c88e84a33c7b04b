/* Replays the whole job: finds its critical path, and the most useful fixes. */
#ifndef TMERGE_MPI_REPLAY_H
#define TMERGE_MPI_REPLAY_H

#include <mpi.h>

#include "replay/whatif/result.h"
#include "replay/whatif/scenario.h"
#include "timeline/collectives.h"

typedef struct tm_replay_plan {
    tm_timeline *timelines; /* [n_timelines] ranks of this process, ascending in rank, with clocks;
                               their events may be packed afterwards (timeline/packed_events.h) */
    size_t n_timelines;
    const tm_names *names;
    int64_t world_size;    /* -1 unknown */
    tm_scenario *scenario; /* scenario that the user requested, or NULL */
    const tm_list *steps;  /* steps that the results cover; NULL: all */
} tm_replay_plan;

/**
 * Replays the job. Does nothing if the clocks of its ranks are not aligned.
 *
 * Collective: over comm. Memory: each process needs 40 bytes for each edge of its ranks, or 15
 * bytes if the rank is in a batch. A rank has about 1.3 edges for each event and call. In addition,
 * each process needs 70 bytes for each link of the job. A link leads from one operation of a rank
 * to the next.
 * @param collectives  operations that were matched and aligned, with their waits
 * @param result       initialised by the caller. Process 0 gets the whole result, other processes
 *                     only a part. The caller frees it even if the call fails.
 * @return             TM_OK; TM_ERR_USAGE if a part of the scenario matches nothing in the job, or
 *                     the job has none of the steps; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_replay(MPI_Comm comm, const tm_replay_plan *plan,
                        const tm_collectives *collectives, tm_replay_result *result,
                        tm_error *err) TM_MUST_CHECK;

#endif
