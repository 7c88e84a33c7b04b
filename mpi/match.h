/* Matching over all processes: sends records to the owners of their operations. */
#ifndef TMERGE_MPI_MATCH_H
#define TMERGE_MPI_MATCH_H

#include <mpi.h>

#include "timeline/collectives.h"
#include "tmerge/names.h"

typedef struct tm_match_options {
    const tm_names *names; /* texts of the timelines */
    int64_t world_size; /* number of ranks of the job: the largest world size in a trace or, if that
                           is larger, the number of ranks with traces */
    int64_t wall_uncertainty_ns; /* as in tm_align_options */
} tm_match_options;

/**
 * Matches the communication kernels of all ranks. Each operation is matched by one process, chosen
 * by hash, so that a process's memory and work do not grow with the job.
 * Collective: over comm.
 * @param timelines  [n] timelines of this process
 * @param out        operations known to this process; set only on TM_OK, free it with
 *                   tm_collectives_free
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_match(MPI_Comm comm, const tm_match_options *options, tm_timeline *timelines,
                       size_t n, tm_collectives *out, tm_error *err) TM_MUST_CHECK;

void tm_collectives_free(tm_collectives *collectives);

#endif
