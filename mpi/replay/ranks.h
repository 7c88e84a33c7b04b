/* The graphs of all ranks that a process holds, with what others took at every place. */
#ifndef TMERGE_MPI_REPLAY_RANKS_H
#define TMERGE_MPI_REPLAY_RANKS_H

#include <mpi.h>

#include "base/list.h"
#include "replay/build.h"
#include "replay/call_times.h"
#include "replay/crew/drafts.h"
#include "replay/crew/models.h"
#include "replay/peers.h"
#include "replay/reduce.h"
#include "replay/sets.h"
#include "replay/works.h"
#include "timeline/collectives.h"

typedef struct tm_replay_ranks {
    MPI_Comm comm;
    const tm_timeline *timelines; /* [n] this process's, ascending in rank */
    size_t n;
    const tm_collectives *collectives;
    const tm_names *names;
    const tm_list *steps; /* figures are of these alone; NULL: of all */
    tm_timebase base;     /* what times count from */
    int64_t n_ranks;      /* of the job that have GPU events */
    bool is_ops;          /* their traces hold operations, not kernels */
    bool lead_in;         /* their graphs have TM_STEP_LEAD_IN, which is no step of the job */
    tm_vec visits;        /* of tm_replay_visit: of these ranks */
    tm_drafts drafts;     /* owned; only while the graphs are made */
    tm_peer_items *items; /* likewise */
    tm_graph *graphs;     /* owned; [n]; empty of ranks in crews */
    bool alone;           /* every rank has a graph of its own */
    tm_models models;
    tm_peer_places places;
    tm_crew_desk *desk; /* owned */
    tm_vec facts;       /* of tm_replay_fact, ascending in rank: those of the job */
    tm_vec host_times;  /* of tm_host_time: where they are compared */
    tm_works works;     /* of all ranks, on process 0 */
    tm_vec extras;      /* of tm_extra_row: likewise */
} tm_replay_ranks;

/** Rank @p i has a graph, of its own or in a crew. */
static inline bool tm_replay_has(const tm_replay_ranks *ranks, size_t i) {
    return ranks->graphs[i].n_nodes > 0 || ranks->graphs[i].in_crew;
}

/** The crews, those without a rank too. */
static inline tm_crew *tm_replay_crews(const tm_replay_ranks *ranks, size_t *n) {
    *n = ranks->models.crews.n;
    return ranks->models.crews.data;
}

/** The words of all processes on each; those of this one are emptied. Collective: over comm. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_replay_share(MPI_Comm comm, tm_vec *own, tm_vec *all, tm_error *err) TM_MUST_CHECK;

/** How many of the job's ranks that have a graph are of a stage. */
int64_t tm_replay_count_stage(const tm_replay_ranks *ranks, int64_t stage);

/** Owners for tm_mpi_shuffle: who compares a tm_peer, and who asked for a tm_peer_others. */
int tm_replay_peer_owner(const void *record, int n_processes);
int tm_replay_others_origin(const void *record, int n_processes);

/** All processes' keys on each. Collective: over comm. TM_OK; TM_ERR_FAULT. @param keys  of
 * uint64_t
 */
tm_status tm_replay_share_keys(MPI_Comm comm, tm_keys *keys, tm_error *err) TM_MUST_CHECK;

/** What all ranks are reduced with: the weights of graphs, and of crews. */
typedef struct tm_replay_weigh {
    size_t n_sets; /* 0: nothing is asked for */
    tm_weigh *graph;
    tm_weigh_crew *crew;
    const void *context;
    tm_sets *sets; /* the context, where names of a rank's rows have to be set; else NULL */
    tm_vec *words; /* of int64_t: appended to */
} tm_replay_weigh;

/** As tm_reduce, of all ranks that are held here, with each of [n] one rank after the other: what
 * the peers of a crew took is found once. TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_reduce(const tm_replay_ranks *ranks, const tm_replay_weigh *weighs, size_t n,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Makes the graphs.
 *
 * Collective: over comm.
 * @param ranks  comm, timelines, n, collectives and names are set, all else is 0; to be freed in
 *               any case
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_replay_ranks(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;
void tm_replay_ranks_free(tm_replay_ranks *ranks);

#endif
