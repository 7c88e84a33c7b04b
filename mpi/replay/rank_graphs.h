/* The graphs of a process's ranks, with the weights that other ranks have at the same places. */
#ifndef TMERGE_MPI_REPLAY_RANK_GRAPHS_H
#define TMERGE_MPI_REPLAY_RANK_GRAPHS_H

#include <mpi.h>

#include "base/list.h"
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
    tm_timeline *timelines; /* [n] ranks of this process, ascending in rank; see `packs` */
    size_t n;
    const tm_collectives *collectives;
    const tm_names *names;
    const tm_list *steps; /* steps that the results cover; NULL means all steps */
    tm_timebase base;     /* origin of times */
    int64_t n_ranks;      /* number of ranks in the job that have GPU events */
    int64_t comm_ns;      /* total duration of this process's communication kernels */
    int64_t work_ns;      /* total duration of the other GPU events that belong to steps, on this
                             process's ranks that have a graph */
    int64_t unmatched_ns; /* recorded time of this process's edges of kind TM_EDGE_COMM, except
                             those of batches */
    bool is_ops;          /* the traces contain operations instead of kernels */
    bool warm_up;         /* graphs start with the warm-up (TM_STEP_WARM_UP) */
    tm_vec participants; /* vector of tm_replay_participant: participations of this process's ranks,
                      sorted by rank */
    tm_graph_inputs inputs; /* owned; recorded events; set only while graphs are built */
    tm_peer_items *items;   /* owned; [n] weights to compare; set only while graphs are built */
    tm_graph *graphs;       /* owned; [n] graphs; the graph of a rank in a batch is empty */
    bool packs;             /* after a rank's graph is built, the rank's events are packed
                               (timeline/packed_events.h), and its graph is closed while it is not
                               used, unless it may be the model of a batch */
    bool alone;             /* no rank is in a batch */
    tm_models models;
    tm_peer_places places;
    tm_batch_workspace *workspace; /* owned */
    tm_vec facts; /* vector of tm_replay_fact, ascending in rank; contains all ranks of the job that
                     have a graph */
    tm_vec host_times; /* vector of tm_host_time; empty if hosts cannot be compared */
    tm_vec at_once;    /* vector of tm_works_at_once of this process's ranks, ascending in index */
    tm_vec step_works; /* vector of tm_step_work: computation of this process's ranks by step; set
                          only while graphs are built */
    tm_works works;    /* works of all ranks of the job; set only on process 0 */
    tm_vec extras; /* vector of tm_extra_row: rows of all ranks of the job; set only on process 0 */
    /* T if each rank has an equal share of the work at each place, and without unexplained time; 0:
     * not evaluated, as the work is even; set only on process 0 */
    int64_t even_ns, even_explained_ns;
} tm_replay_ranks;

/** Returns whether rank @p i has a graph of its own or is in a batch. */
static inline bool tm_replay_has(const tm_replay_ranks *ranks, size_t i) {
    return ranks->graphs[i].n_nodes > 0 || ranks->graphs[i].in_batch;
}

/** Returns the batches, including empty ones. */
static inline tm_batch *tm_replay_batches(const tm_replay_ranks *ranks, size_t *n) {
    *n = ranks->models.batches.n;
    return ranks->models.batches.data;
}

/** Closes the graph of rank @p i if `packs` is set, unless it may be the model of a batch. */
void tm_replay_close_graph(const tm_replay_ranks *ranks, size_t i);

/** Sends the elements of @p own to every process. Afterwards, @p all contains the elements of all
 * processes, and @p own is empty. Collective: over comm. TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_share(MPI_Comm comm, tm_vec *own, tm_vec *all, tm_error *err) TM_MUST_CHECK;

/** Returns how many ranks in the job have this stage and a graph. */
int64_t tm_replay_count_stage(const tm_replay_ranks *ranks, int64_t stage);

/** Owner functions for tm_mpi_shuffle. tm_replay_peer_owner returns the process that compares a
 * tm_peer. tm_replay_others_origin returns the process that gets a tm_peer_others. */
int tm_replay_peer_owner(const void *record, int n_processes);
int tm_replay_others_origin(const void *record, int n_processes);

/** Adds the keys of all processes to @p keys. Collective: over comm. TM_OK; TM_ERR_FAULT.
 * @param keys  keys of type uint64_t */
tm_status tm_replay_share_keys(MPI_Comm comm, tm_keys *keys, tm_error *err) TM_MUST_CHECK;

/** The weights with which ranks are reduced. Single ranks use `graph`, and batches use `batch`. */
typedef struct tm_replay_weigh {
    size_t n_sets; /* 0: ranks are not reduced with these weights */
    tm_weigh *graph;
    tm_weigh_batch *batch;
    const void *context;
    /* the same object as `context` if the functions need the rank and the rank's names; otherwise
     * NULL */
    tm_sets *sets;
    tm_vec *words; /* vector of int64_t to which reduced ranks are appended */
} tm_replay_weigh;

/** Reduces all ranks of this process with each of the [n] @p weighs. A batch is reduced with all
 * @p weighs before the next batch starts, so that the peer weights of each batch are computed only
 * once. TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_reduce(const tm_replay_ranks *ranks, const tm_replay_weigh *weighs, size_t n,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Builds the graphs.
 *
 * Collective: over comm.
 * @param ranks  The caller must set comm, base, timelines, n, collectives, names, steps, packs and
 *               alone, and set everything else to 0. The caller must free @p ranks with
 *               tm_replay_ranks_free, even after an error.
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_replay_ranks(tm_replay_ranks *ranks, tm_error *err) TM_MUST_CHECK;
void tm_replay_ranks_free(tm_replay_ranks *ranks);

#endif
