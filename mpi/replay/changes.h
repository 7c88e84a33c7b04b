/* What changes of weights on all ranks would save: kinds of work, kernels, a user's scenario. */
#ifndef TMERGE_MPI_REPLAY_CHANGES_H
#define TMERGE_MPI_REPLAY_CHANGES_H

#include "ranks.h"
#include "replay/plan.h"
#include "replay/scenario.h"
#include "replay/sets.h"

/**
 * Tries the changes that were found to be worth it, and the scenario. Few at a time: each makes the
 * links of the reduced job longer, and leaves more of them.
 *
 * Collective: over the ranks' comm.
 * @param chosen    on every process the same
 * @param scenario  that edges are marked for, or NULL
 * @param fixer     of the same job: its size, and T as recorded
 * @param items     of tm_whatif_item: a part of the rows is added on each process
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes(const tm_replay_ranks *ranks, const tm_changes *chosen,
                         const tm_scenario *scenario, const tm_fixer *fixer, tm_vec *items,
                         tm_error *err) TM_MUST_CHECK;

#endif
