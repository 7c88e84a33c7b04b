/* Finds hosts with slow transfers, over all processes. */
#ifndef TMERGE_MPI_REPLAY_SLOW_HOSTS_H
#define TMERGE_MPI_REPLAY_SLOW_HOSTS_H

#include "changes.h"
#include "replay/whatif/links.h"

/**
 * Finds the host with slow transfers, and factors that make transfers as fast as on others.
 *
 * Collective: over the ranks' comm.
 * @param network  the same on every process
 * @param scaled   operations of this process's ranks
 * @return         TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_links(const tm_replay_ranks *ranks, tm_links *network, tm_scaled *scaled,
                       tm_error *err) TM_MUST_CHECK;

/** Appends the corresponding change, if there is one. False when out of memory.
 * @param more  of tm_change_more */
bool tm_mpi_links_change(const tm_replay_ranks *ranks, const tm_links *network,
                         const tm_scaled *scaled, tm_vec *more) TM_MUST_CHECK;

#endif
