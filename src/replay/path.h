/* The critical path over all ranks: the chain of calls, kernels and transfers that decides when a
 * step ends. It never waits: at an operation it goes on with who came last.
 *
 * Each rank tells what leads to its last arrivals and to the ends of its steps; from that the way
 * over operations is known, and each rank fills in what lies between them. */
#ifndef TMERGE_REPLAY_PATH_H
#define TMERGE_REPLAY_PATH_H

#include "graph.h"

/** No operation: the root. */
#define TM_PATH_ROOT UINT64_MAX
/** No step: the path from the last end of all back to the root, which no end of a step cuts. What
 * shortens it shortens the job; the paths of steps may all miss what lies before an end. */
#define TM_PATH_WHOLE INT64_MIN

/** A rank that came last to an operation, and from where it came. Sent as bytes. */
typedef struct tm_path_arrival {
    uint64_t operation;
    uint64_t from;   /* the operation that it came from, or TM_PATH_ROOT */
    int64_t from_ns; /* its L; before all, of the root */
    int64_t last_ns;
    int64_t rank;
    uint32_t node;
} tm_path_arrival;

/** The same of the end of a rank's part of a step. */
typedef struct tm_path_end {
    int64_t number; /* of the step */
    int64_t end_ns;
    uint64_t from;
    int64_t from_ns;
    int64_t rank;
    uint32_t node;
} tm_path_end;

/** A part of the path that lies on one rank, without other ranks' doing. */
typedef struct tm_path_hop {
    int64_t step;             /* number, or TM_PATH_WHOLE */
    int64_t begin_ns, end_ns; /* a hop that is cut begins where the step before ended */
    int64_t rank;
    uint32_t node; /* where it ends */
} tm_path_hop;

/** A piece of a hop: what one edge stands for. Sent as bytes. */
typedef struct tm_path_piece {
    int64_t step;
    int64_t begin_ns, ns;
    int64_t gain_ns; /* by how much its edge is shorter as is usual; below 0: longer */
    int64_t rank;
    uint32_t name;  /* name id of its event or call */
    uint32_t event; /* row of the rank's */
    uint8_t kind;   /* tm_edge_kind */
    uint8_t flags;
    uint8_t part; /* as in tm_edge */
} tm_path_piece;

/** The end of a step of the job: E_k. */
typedef struct tm_path_step {
    int64_t number;
    int64_t begin_ns, end_ns; /* E_(k - 1) and E_k, since the root */
    int64_t hops;
    bool partial; /* not all ranks have it, or recording began within it */
} tm_path_step;

/**
 * The edge that decides when each node is: of several the one with the latest source, of these the
 * first in the order of kinds.
 * @param edges  [n_nodes] out
 * @param ports  [n_nodes] out: the visit that the path to each node begins at, or TM_FROM_ROOT
 */
void tm_path_decide(const tm_graph *graph, uint32_t *edges, uint32_t *ports);

/** Adds the operations that a rank came to as the last, and the ends of its steps. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_path_ports(const tm_graph *graph, const uint32_t *ports, tm_vec *arrivals,
                        tm_vec *ends, tm_error *err) TM_MUST_CHECK;

/**
 * Walks back from the end of each step to that of the one before, and from the last end to the
 * root.
 *
 * @param arrivals  of tm_path_arrival, of all ranks; sorted
 * @param ends      of tm_path_end, of all ranks; sorted
 * @param n_ranks   that have GPU events
 * @param steps     of tm_path_step, appended to, ascending
 * @param hops      of tm_path_hop, appended to, of one step from its end to its begin
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_path_walk(tm_vec *arrivals, tm_vec *ends, int64_t n_ranks, tm_vec *steps, tm_vec *hops,
                       tm_error *err) TM_MUST_CHECK;

/** Adds the pieces of a hop of this rank in order of time; their lengths sum to the hop's. TM_OK;
 * TM_ERR_FAULT. @param edges  of tm_path_decide */
tm_status tm_path_fill(const tm_graph *graph, const tm_timeline *timeline, const uint32_t *edges,
                       const tm_path_hop *hop, tm_vec *pieces, tm_error *err) TM_MUST_CHECK;

#endif
