/* The graphs of a process's ranks, and the weights that other ranks have at the same places. */
#ifndef TMERGE_MPI_REPLAY_RANK_GRAPHS_H
#define TMERGE_MPI_REPLAY_RANK_GRAPHS_H

#include <mpi.h>

#include "base/list.h"
#include "replay/graph/build_graph.h"
#include "replay/job/batch_events.h"
#include "replay/job/batch_models.h"
#include "replay/job/call_times.h"
#include "replay/job/peers.h"
#include "replay/job/reduce.h"
#include "replay/job/sets.h"
#include "replay/job/works.h"
#include "timeline/collectives.h"

typedef struct tm_replay_ranks {
    MPI_Comm comm;
    const tm_timeline *timelines; /* [n] of this process, ascending in rank */
    size_t n;
    const tm_collectives *collectives;
    const tm_names *names;
    const tm_list *steps; /* steps that the results cover; NULL: all */
    tm_timebase base;     /* origin of times */
    int64_t n_ranks;      /* number of ranks of the job with GPU events */
    bool is_ops;          /* the traces hold operations instead of kernels */
    bool warm_up;         /* graphs start with TM_STEP_LEAD_IN, which is no step of the job */
    tm_vec visits;        /* of tm_replay_visit: participations of this process's ranks */
    tm_drafts drafts;     /* owned; only while graphs are built */
    tm_peer_items *items; /* owned; only while graphs are built */
    tm_graph *graphs;     /* owned; [n]; empty for ranks in batches */
    bool alone;           /* every rank has a graph of its own: there are no batches */
    tm_models models;
    tm_peer_places places;
    tm_batch_workspace *workspace; /* owned */
    tm_vec facts;                  /* of tm_replay_fact, ascending in rank: of the whole job */
    tm_vec host_times;             /* of tm_host_time; empty if hosts cannot be compared */
    tm_works works;                /* of all ranks; only on process 0 */
    tm_vec extras;                 /* of tm_extra_row: of all ranks; only on process 0 */
} tm_replay_ranks;

/** Returns whether rank @p i has a graph: its own one, or a part of a batch. */
static inline bool tm_replay_has(const tm_replay_ranks *ranks, size_t i) {
    return ranks->graphs[i].n_nodes > 0 || ranks->graphs[i].in_batch;
}

/** Returns the batches, including empty ones. */
static inline tm_batch *tm_replay_batches(const tm_replay_ranks *ranks, size_t *n) {
    *n = ranks->models.batches.n;
    return ranks->models.batches.data;
}

/** Gives every process the numbers of all processes; empties @p own. Collective: over comm. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_replay_share(MPI_Comm comm, tm_vec *own, tm_vec *all, tm_error *err) TM_MUST_CHECK;

/** Returns how many ranks of a stage, over the whole job, have a graph. */
int64_t tm_replay_count_stage(const tm_replay_ranks *ranks, int64_t stage);

/** Owner functions for tm_mpi_shuffle: the process that compares a tm_peer; the process that asked
 * for a tm_peer_others. */
int tm_replay_peer_owner(const void *record, int n_processes);
int tm_replay_others_origin(const void *record, int n_processes);

/** Adds the keys of all processes to @p keys on every process. Collective: over comm. TM_OK;
 * TM_ERR_FAULT.
 * @param keys  of uint64_t */
tm_status tm_replay_share_keys(MPI_Comm comm, tm_keys *keys, tm_error *err) TM_MUST_CHECK;

/** The weights with which ranks are reduced: one function for ranks with graphs of their own, one
 * for batches. */
typedef struct tm_replay_weigh {
    size_t n_sets; /* 0: not requested */
    tm_weigh *graph;
    tm_weigh_batch *batch;
    const void *context;
    /* same as context, if the functions need the names of each rank's rows; else NULL */
    tm_sets *sets;
    tm_vec *words; /* of int64_t: the reduced ranks are appended */
} tm_replay_weigh;

/** Calls tm_reduce for all ranks held here. Each rank is reduced with all [n] @p weighs before the
 * next one, so that the peers' weights of a batch are computed only once. TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_reduce(const tm_replay_ranks *ranks, const tm_replay_weigh *weighs, size_t n,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Builds the graphs.
 *
 * Collective: over comm.
 * @param ranks  comm, timelines, n, collectives and names are set, all else is 0; to be freed in
 *               any case
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_replay_ranks(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;
void tm_replay_ranks_free(tm_replay_ranks *ranks);

#endif
