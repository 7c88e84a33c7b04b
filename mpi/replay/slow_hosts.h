/* Finds hosts, or ranks of a host, with slow transfers, over the whole job. */
#ifndef TMERGE_MPI_REPLAY_SLOW_HOSTS_H
#define TMERGE_MPI_REPLAY_SLOW_HOSTS_H

#include "changes.h"
#include "replay/whatif/links.h"

/**
 * Finds hosts, or ranks of a host, with slow transfers, and factors that make these transfers as
 * fast as the others.
 *
 * Collective: over the ranks' comm.
 * @param network  set by the call; the same on every process
 * @param scaled   set by the call: factors for the operations of this process's ranks
 * @return         TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_links(const tm_replay_ranks *ranks, tm_links *network, tm_scaled *scaled,
                       tm_error *err) TM_MUST_CHECK;

/**
 * Appends a change that makes slow transfers as fast as the others, if there are any. Returns false
 * when out of memory.
 * @param more  vector of tm_change_more
 */
bool tm_mpi_links_change(const tm_replay_ranks *ranks, const tm_links *network,
                         const tm_scaled *scaled, tm_vec *more) TM_MUST_CHECK;

#endif
