/* Critical path over all ranks: the chain of calls, kernels and transfers that determines when a
 * step ends. It contains no waits: at an operation it continues on the rank that arrived last.
 *
 * Each rank reports where its paths to the operations at which it arrived last, and to the ends of
 * its steps, start. This gives the path from operation to operation. Each rank then finds the
 * pieces of its own hops. */
#ifndef TMERGE_REPLAY_PATH_H
#define TMERGE_REPLAY_PATH_H

#include "replay/graph/graph.h"

/** The root, in place of an operation. */
#define TM_PATH_ROOT UINT64_MAX
/** Number of a pseudo step for the whole path: from the job's last end back to the root, not cut at
 * ends of steps. Only shortening this path shortens the job. The path of a single step may lack
 * work that delays a later step. */
#define TM_PATH_WHOLE INT64_MIN

/** A rank that arrived last at an operation, and where its path to there starts. Sent as bytes. */
typedef struct tm_path_arrival {
    uint64_t operation;
    uint64_t from;   /* operation at which the path starts, or TM_PATH_ROOT */
    int64_t from_ns; /* L of that operation; INT64_MIN for the root */
    int64_t last_ns;
    int64_t rank;
    uint32_t node;
} tm_path_arrival;

/** The end of a rank's part of a step, and where its path to there starts. Sent as bytes. */
typedef struct tm_path_end {
    int64_t number; /* of the step */
    int64_t end_ns;
    uint64_t from;
    int64_t from_ns;
    int64_t rank;
    uint32_t node;
} tm_path_end;

/** A hop: a part of the path on one rank, from one operation to the next. */
typedef struct tm_path_hop {
    int64_t step; /* number, or TM_PATH_WHOLE */
    /* a hop that starts before the end of the previous step is cut at that end */
    int64_t begin_ns, end_ns;
    int64_t rank;
    uint32_t node; /* at its end */
} tm_path_hop;

/** A piece of a hop: one edge. Sent as bytes. */
typedef struct tm_path_piece {
    int64_t step;
    int64_t begin_ns, ns;
    int64_t gain_ns; /* by how much the edge is longer than usual; negative: shorter */
    int64_t rank;
    uint32_t name;  /* name id of the edge's event or call */
    uint32_t event; /* row of the event or call in the rank's timeline */
    uint8_t kind;   /* tm_edge_kind */
    uint8_t flags;
    uint8_t part; /* as in tm_edge */
} tm_path_piece;

/** The end of a step of the job: E_k. */
typedef struct tm_path_step {
    int64_t number;
    int64_t begin_ns, end_ns; /* E_(k - 1), the end of the previous step, and E_k; since the root */
    int64_t hops;
    bool partial; /* some ranks lack the step, or the recording started in it */
} tm_path_step;

/**
 * Finds the edge that determines each node's time; of several, the one with the latest source, then
 * the first in the order of kinds.
 * @param edges  [n_nodes] out
 * @param boundaries  [n_nodes] out: where the path to each node starts: a participation, or
 *                    TM_FROM_ROOT
 */
void tm_path_decide(const tm_graph *graph, uint32_t *edges, uint32_t *boundaries);

/** Appends the operations at which a rank arrived last, and the ends of its steps. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_path_boundaries(const tm_graph *graph, const uint32_t *boundaries, tm_vec *arrivals,
                             tm_vec *ends, tm_error *err) TM_MUST_CHECK;

/**
 * Walks back from the end of each step to that of the previous one, and from the last end to the
 * root.
 *
 * @param arrivals  of tm_path_arrival, of all ranks; sorted
 * @param ends      of tm_path_end, of all ranks; sorted
 * @param n_ranks   number of ranks with GPU events
 * @param steps     of tm_path_step, appended to, ascending
 * @param hops      of tm_path_hop, appended to, for each step from its end to its start
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_path_walk(tm_vec *arrivals, tm_vec *ends, int64_t n_ranks, tm_vec *steps, tm_vec *hops,
                       tm_error *err) TM_MUST_CHECK;

/** Appends the pieces of a hop of this rank in order of time; their lengths add up to the hop's.
 * TM_OK; TM_ERR_FAULT. @param edges  of tm_path_decide */
tm_status tm_path_fill(const tm_graph *graph, const tm_timeline *timeline, const uint32_t *edges,
                       const tm_path_hop *hop, tm_vec *pieces, tm_error *err) TM_MUST_CHECK;

#endif
