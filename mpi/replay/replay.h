/* The whole job replayed: its critical path, and what would help most. */
#ifndef TMERGE_MPI_REPLAY_H
#define TMERGE_MPI_REPLAY_H

#include <mpi.h>

#include "replay/result.h"
#include "replay/scenario.h"
#include "timeline/collectives.h"

/** What a process may need for its ranks: at most TM_REPLAY_BYTES for each GPU event and each call
 * of the runtime or driver, and while a rank's graph is made TM_REPLAY_BYTES_MAKING for each of
 * its; one is made after the other. */
#define TM_REPLAY_BYTES_MAX (INT64_C(4) << 30)
enum { TM_REPLAY_BYTES = 200, TM_REPLAY_BYTES_MAKING = 250 };

typedef struct tm_replay_plan {
    const tm_timeline *timelines; /* [n_timelines] this process's, ascending in rank, with clocks */
    size_t n_timelines;
    const tm_names *names;
    int64_t world_size;    /* -1 unknown */
    tm_scenario *scenario; /* what a user asks for besides, or NULL */
    const tm_list *steps;  /* figures are of these alone; NULL: of all */
} tm_replay_plan;

/**
 * Replays the job; not one whose clocks cannot be put on one time, nor one of which a process would
 * need over TM_REPLAY_BYTES_MAX: then its result has needed_bytes alone.
 *
 * Collective: over comm. Memory: 60 bytes for each edge of the ranks held here (1.3 of them for
 * each event and call; of ranks in crews 15), and on every process 70 for each two ranks' way
 * between operations.
 * @param collectives  matched, aligned and with waits
 * @param result       initialised; filled on process 0, elsewhere in part; to be freed in any case
 * @return             TM_OK; TM_ERR_USAGE where the job has nothing that the scenario means, or
 * none of the steps; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_replay(MPI_Comm comm, const tm_replay_plan *plan,
                        const tm_collectives *collectives, tm_replay_result *result,
                        tm_error *err) TM_MUST_CHECK;

#endif
