/* Critical path over all ranks: the chain of calls, kernels and transfers that determines when a
 * step ends. The path has no waits, because at an operation it continues on the rank that arrived
 * last.
 *
 * The path is found in two passes. First, each rank reports the operations at which it arrived
 * last, the ends of its steps, and where its path to each of these starts. This gives the path from
 * operation to operation. Then each rank finds the pieces of its own hops. */
#ifndef TMERGE_REPLAY_PATH_H
#define TMERGE_REPLAY_PATH_H

#include "replay/graph/graph.h"

/** Stands for the root instead of an operation's id. */
#define TM_PATH_ROOT UINT64_MAX
/** Step number of the whole path, which no step has. The whole path leads from the job's last end
 * back to the root, and is not cut at the ends of steps. The job gets shorter only if this path
 * gets shorter. The path of a single step may lack work that delays a later step. */
#define TM_PATH_WHOLE INT64_MIN

/** An operation at which a rank arrived last, and the start of the rank's path to this operation.
 * Sent as bytes. */
typedef struct tm_path_arrival {
    uint64_t operation;
    uint64_t from;   /* operation at which the path starts, or TM_PATH_ROOT */
    int64_t from_ns; /* L of that operation; INT64_MIN for the root */
    int64_t last_ns;
    int64_t rank;
    uint32_t node;
} tm_path_arrival;

/** The end of a step on a rank, and the start of the rank's path to this end. Sent as bytes. */
typedef struct tm_path_end {
    int64_t number; /* step number */
    int64_t end_ns;
    uint64_t from;
    int64_t from_ns;
    int64_t rank;
    uint32_t node;
} tm_path_end;

/** A hop: a part of the path on one rank, between two operations, or between an operation and the
 * root or the end of a step. */
typedef struct tm_path_hop {
    int64_t step; /* number, or TM_PATH_WHOLE */
    /* If the hop starts before the previous step ends, begin_ns is the end of the previous step. */
    int64_t begin_ns, end_ns;
    int64_t rank;
    uint32_t node; /* node at the end of the hop */
} tm_path_hop;

/** A piece of a hop: an edge of the rank's graph. Sent as bytes. */
typedef struct tm_path_piece {
    int64_t step;
    int64_t begin_ns, ns;
    int64_t gain_ns; /* the edge's weight minus its usual weight; negative if it was faster than
                        usual */
    int64_t rank;
    uint32_t name;  /* name id of the event or call whose time the edge represents */
    uint32_t event; /* row of this event or call in the rank's timeline */
    uint8_t kind;   /* tm_edge_kind */
    uint8_t flags;
    uint8_t part; /* part of the user's scenario, as tm_graph_fix returns it */
} tm_path_piece;

typedef struct tm_path_step {
    int64_t number;
    /* begin_ns: end of the previous step, E_(k - 1). end_ns: end of this step, E_k. Both are times
     * since the root. */
    int64_t begin_ns, end_ns;
    int64_t hops;
    bool partial; /* some ranks lack the step, or their recordings started in it */
} tm_path_step;

/**
 * Finds the edge that determines the time of each node. If several edges do, takes the edge with
 * the latest source. If several of these have the same source time, takes the first in the order of
 * kinds.
 *
 * @param edges       [n_nodes] set to the edge of each node
 * @param boundaries  [n_nodes] set to the start of the path to each node: the index of a
 *                    participation, or TM_FROM_ROOT
 */
void tm_path_decide(const tm_graph *graph, uint32_t *edges, uint32_t *boundaries);

/** Appends a rank's arrivals at operations at which it arrived last, and the ends of its steps.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_path_boundaries(const tm_graph *graph, const uint32_t *boundaries, tm_vec *arrivals,
                             tm_vec *ends, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the hops of all paths. The path of a step leads from the step's end back to the end of the
 * previous step. The whole path leads from the job's last end back to the root.
 *
 * @param arrivals  vector of tm_path_arrival: arrivals of all ranks; this function sorts them
 * @param ends      vector of tm_path_end: ends of all ranks; this function sorts them
 * @param n_ranks   number of ranks with GPU events
 * @param steps     vector of tm_path_step: steps are appended in ascending order
 * @param hops      vector of tm_path_hop: the hops of each step are appended, then those of the
 *                  whole path. The hops of a path are in order from its end back to its start.
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_path_walk(tm_vec *arrivals, tm_vec *ends, int64_t n_ranks, tm_vec *steps, tm_vec *hops,
                       tm_error *err) TM_MUST_CHECK;

/**
 * Appends the pieces of a hop of this rank, in order of time. The lengths of the pieces add up to
 * the length of the hop. TM_OK; TM_ERR_FAULT.
 *
 * @param edges  from tm_path_decide
 */
tm_status tm_path_fill(const tm_graph *graph, const tm_timeline *timeline, const uint32_t *edges,
                       const tm_path_hop *hop, tm_vec *pieces, tm_error *err) TM_MUST_CHECK;

#endif
