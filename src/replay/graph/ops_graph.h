/* Builds a rank's graph from its operations, after two exchanges with other ranks: of when steps
 * end, and of when operations that join ranks start.
 *
 * A member arrives when all operations that it follows have ended. The last arrival (J) is followed
 * by the operation's recorded start. The time between the two, like that between an operation that
 * joins no ranks and those that it follows, is unexplained: launches, or loading of data. It is the
 * weight of edges of kind gap. All other edges are explained. A step starts when all ranks have
 * ended the previous one. */
#ifndef TMERGE_REPLAY_OPS_GRAPH_H
#define TMERGE_REPLAY_OPS_GRAPH_H

#include "ops_events.h"
#include "replay/graph/graph.h"

/** A member of an operation that joins ranks. Sent to the process that collects the members, and
 * back, as bytes. */
typedef struct tm_ops_member {
    uint64_t operation;
    int64_t arrival_ns; /* in the answer, the latest over all members */
    int64_t begin_ns;   /* in the answer, the latest over all members */
    uint32_t rank;      /* index of the rank in its process */
    uint32_t part;      /* index in parts, or ends, of tm_ops_draft */
    int32_t origin;     /* sending process */
    int32_t is_end;
} tm_ops_member;

/** Appends the ends of a rank's steps. False when out of memory. */
bool tm_ops_ask_ends(const tm_ops_draft *draft, uint32_t rank, int32_t origin, tm_vec *members);

/** Computes when operations arrive, then appends those that join ranks. Call it with the answers of
 * the first exchange. False when out of memory. */
bool tm_ops_ask_joins(tm_ops_draft *draft, uint32_t rank, int32_t origin, tm_vec *members);

/** Sets in each member the latest times over all members of its operation. @p members must have all
 * of them. */
void tm_ops_answer(tm_vec *members);

/** Stores an answer. */
void tm_ops_take(tm_ops_draft *draft, const tm_ops_member *answer);

/** Time of operations by type. */
typedef struct tm_ops_times {
    int64_t ns[TM_N_OPS_TYPES];
} tm_ops_times;

/** Time of one operation, for the mean or median over the job. Sent as bytes. */
typedef struct tm_ops_sample {
    int64_t ns;
    int64_t type;
} tm_ops_sample;

/** Appends a rank's samples. False when out of memory. */
bool tm_ops_sample_rank(const tm_ops_draft *draft, tm_vec *samples);

/** Computes the ideal times: the mean over the job for computation, the median for communication.
 * @param samples  of tm_ops_sample, of all ranks; sorted by the call */
tm_ops_times tm_ops_ideal(tm_vec *samples);

/**
 * Builds the graph.
 * @param ideal  of the job: becomes the peer weights
 * @return       TM_OK; TM_ERR_FAULT; free it with tm_graph_free in either case
 */
tm_status tm_ops_graph(const tm_ops_draft *draft, const tm_ops_times *ideal, tm_graph *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
