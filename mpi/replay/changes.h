/* Evaluates changes of the weights of all ranks: kinds of work, kernels, stages, the network, a
 * user's scenario. */
#ifndef TMERGE_MPI_REPLAY_CHANGES_H
#define TMERGE_MPI_REPLAY_CHANGES_H

#include "rank_graphs.h"
#include "replay/whatif/choose_changes.h"
#include "replay/whatif/scenario.h"

/** Maximum number of changes in a batch. For each batch, the graphs of all ranks are reduced
 * once. */
enum { TM_CHANGES_AT_ONCE = 32 };

/** A change that is evaluated in addition to those chosen from the critical path. */
typedef struct tm_change_more {
    tm_whatif_item item;
    tm_change change;
} tm_change_more;

typedef struct tm_changes_more {
    tm_vec changes; /* vector of tm_change_more; the same on every process except for the factors */
    const uint8_t *pairs; /* [name id] 1 for names of kernels that send or receive; NULL: no change
                             needs them */
} tm_changes_more;

/** All changes to evaluate, and the weights of the current batch of changes. */
typedef struct tm_trying {
    const tm_replay_ranks *r;
    const tm_changes *chosen;
    const tm_changes_more *more;
    size_t next_more;
    const tm_scenario *scenario; /* scenario that still has to be picked for a batch, or NULL */
    uint8_t *marks;              /* owned; [name id] marks of the kernels of chosen changes */
    tm_change changes[TM_CHANGES_AT_ONCE];
    tm_whatif_item items[TM_CHANGES_AT_ONCE];
    size_t n, most;
    uint32_t next;   /* index of the next chosen change to pick */
    int64_t n_ranks; /* number of ranks in the job that have a graph */
    tm_sets sets;
    tm_vec words; /* vector of int64_t: the reduced ranks of this process, for the current batch */
} tm_trying;

/**
 * Picks the first batch of changes.
 *
 * Collective: over the ranks' comm.
 * @param chosen    the same on every process
 * @param scenario  scenario whose edges are marked, or NULL
 * @param out       the caller frees it even if the call fails
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes_open(const tm_replay_ranks *ranks, const tm_changes *chosen,
                              const tm_changes_more *more, const tm_scenario *scenario,
                              tm_trying *out, tm_error *err) TM_MUST_CHECK;
void tm_mpi_changes_free(tm_trying *trying);

/**
 * Evaluates the job with the peers' durations of compute kernels.
 *
 * Collective: over the ranks' comm.
 * @param item  on process 0, its savings are set to -T
 * @return      TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes_even(const tm_replay_ranks *ranks, tm_whatif_item *item,
                              tm_error *err) TM_MUST_CHECK;

/** Returns the weights of the current batch. Before tm_mpi_changes_try, the caller must reduce the
 * ranks with these weights. */
tm_replay_weigh tm_mpi_changes_weigh(tm_trying *trying);

/**
 * Evaluates all changes, batch by batch. For each batch after the first, reduces all ranks again.
 *
 * Collective: over the ranks' comm.
 * @param total_ns  the job's recorded time T
 * @param items     vector of tm_whatif_item: each process appends the rows of its share
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes_try(tm_trying *trying, int64_t total_ns, tm_vec *items,
                             tm_error *err) TM_MUST_CHECK;

#endif
