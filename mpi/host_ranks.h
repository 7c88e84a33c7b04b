/* Which rank is on which host: what all processes know together. */
#ifndef TMERGE_MPI_HOST_RANKS_H
#define TMERGE_MPI_HOST_RANKS_H

#include <mpi.h>

#include "base/vec.h"
#include "identity/hosts.h"
#include "tmerge/timeline.h"

/**
 * Lists all ranks of the job with their hosts, ascending in rank, the same on every process. The
 * number of a rank is tm_host_number_of the host's name. Collective: over comm.
 * @param names      names of this process
 * @param timelines  [n] timelines of this process
 * @param all        vector of tm_host_rank, empty before the call; the caller frees it
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_host_ranks(MPI_Comm comm, const tm_names *names, const tm_timeline *timelines,
                            size_t n, tm_vec *all, tm_error *err) TM_MUST_CHECK;

/** Returns a rank in this list; NULL if it has no trace. */
const tm_host_rank *tm_host_rank_find(const tm_vec *all, int64_t rank);

/** Sets inferred_host of each timeline (tm_hosts_infer). Collective: over comm. TM_OK or
 * TM_ERR_FAULT, the same on every process. */
tm_status tm_mpi_infer_hosts(MPI_Comm comm, tm_names *names, tm_timeline *timelines, size_t n,
                             tm_error *err) TM_MUST_CHECK;

#endif
