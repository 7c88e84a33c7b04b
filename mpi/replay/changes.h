/* What changes of weights on all ranks would save: kinds of work, kernels, a user's scenario. */
#ifndef TMERGE_MPI_REPLAY_CHANGES_H
#define TMERGE_MPI_REPLAY_CHANGES_H

#include "ranks.h"
#include "replay/result.h"
#include "replay/scenario.h"
#include "replay/sets.h"

/** Changes are tried so many at a time: each time, all graphs are gone through. */
enum { TM_CHANGES_AT_ONCE = 32 };

/** A change of another sort than those that are chosen from the path. */
typedef struct tm_change_more {
    tm_whatif_item item;
    tm_change change;
} tm_change_more;

/** Those, and what they need. */
typedef struct tm_changes_more {
    tm_vec changes;       /* of tm_change_more; the same sorts on every process */
    const uint8_t *pairs; /* as in tm_sets; or NULL */
} tm_changes_more;

/** The changes that were found to be worth it, and the scenario: what is left of the ranks with the
 * weights of a few of them. */
typedef struct tm_trying {
    const tm_replay_ranks *r;
    const tm_changes *chosen;
    const tm_changes_more *more; /* tried, too */
    size_t next_more;
    const tm_scenario *scenario; /* or NULL: once it is among them */
    uint8_t *marks;              /* owned; by name id, of kernels that are chosen */
    tm_change changes[TM_CHANGES_AT_ONCE];
    tm_whatif_item items[TM_CHANGES_AT_ONCE];
    size_t n, most;
    uint32_t next;   /* of the chosen */
    int64_t n_ranks; /* of the job that have a graph */
    tm_sets sets;
    tm_vec words; /* of int64_t: of this process's ranks */
} tm_trying;

/**
 * Picks the first few. Each makes the links of the reduced job longer, and leaves more of them.
 *
 * Collective: over the ranks' comm.
 * @param chosen    on every process the same
 * @param scenario  that edges are marked for, or NULL
 * @param out       to be freed in either case
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes_open(const tm_replay_ranks *ranks, const tm_changes *chosen,
                              const tm_changes_more *more, const tm_scenario *scenario,
                              tm_trying *out, tm_error *err) TM_MUST_CHECK;
void tm_mpi_changes_free(tm_trying *trying);

/** What ranks are to be reduced with before they are tried. */
tm_replay_weigh tm_mpi_changes_weigh(tm_trying *trying);

/**
 * Tries them; those that need a second pass over all ranks come last.
 *
 * Collective: over the ranks' comm.
 * @param total_ns  T as recorded
 * @param items     of tm_whatif_item: a part of the rows is added on each process
 * @return          TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_changes_try(tm_trying *trying, int64_t total_ns, tm_vec *items,
                             tm_error *err) TM_MUST_CHECK;

#endif
