/* Builds a rank's graph from the rank's operations. Ranks first exchange the ends of their steps,
 * and then the starts of operations that join ranks.
 *
 * A member arrives at an operation when all operations that the member follows have ended. J is the
 * time of the last arrival. The time from J to the recorded start of the operation is unexplained
 * (launches, loading of data). If an operation joins no ranks, the unexplained time is from the end
 * of the last operation that it follows to its own start. Unexplained times are the weights of
 * edges of kind GAP. All other times are explained. A step starts when all ranks have ended the
 * previous step. */
#ifndef TMERGE_REPLAY_OPS_GRAPH_H
#define TMERGE_REPLAY_OPS_GRAPH_H

#include "ops_events.h"
#include "replay/graph/graph.h"

/** A member of an operation that joins ranks, or of the end of a step. Sent as bytes to the process
 * that collects the members, and back as the answer. */
typedef struct tm_ops_member {
    uint64_t operation;
    int64_t arrival_ns; /* arrival of the member; in the answer: latest arrival of all members */
    int64_t begin_ns;   /* start of the member; in the answer: latest start of all members */
    uint32_t rank;      /* index of the rank in its process */
    uint32_t part;      /* index in tm_ops_input.ends if is_end is set; otherwise index in
                           tm_ops_input.parts */
    int32_t origin;     /* sending process */
    int32_t is_end;
} tm_ops_member;

/** Appends the ends of a rank's steps, for the first exchange. False when out of memory. */
bool tm_ops_ask_ends(const tm_ops_input *input, uint32_t rank, int32_t origin, tm_vec *members);

/** Computes arrival_ns of all operations, which requires the answers of the first exchange. Then
 * appends the operations that join ranks, for the second exchange. False when out of memory. */
bool tm_ops_ask_joins(tm_ops_input *input, uint32_t rank, int32_t origin, tm_vec *members);

/** Sets the times of each member to the latest times of all members of the same operation.
 * @p members must contain all members of each operation. */
void tm_ops_answer(tm_vec *members);

/** Stores an answer of either exchange in the input. */
void tm_ops_take(tm_ops_input *input, const tm_ops_member *answer);

/** A time for each type of operation. */
typedef struct tm_ops_times {
    int64_t ns[TM_N_OPS_TYPES];
} tm_ops_times;

/** Time of one operation. Sent as bytes. */
typedef struct tm_ops_sample {
    int64_t ns;
    int64_t type;
} tm_ops_sample;

/** Appends the times of a rank's operations. False when out of memory. */
bool tm_ops_sample_rank(const tm_ops_input *input, tm_vec *samples);

/** Computes the ideal time of each type of operation. For computation, it is the mean over the job.
 * For communication, it is the median.
 * @param samples  vector of tm_ops_sample, with the samples of all ranks. The function sorts it. */
tm_ops_times tm_ops_ideal(tm_vec *samples);

/**
 * Builds the graph.
 * @param ideal  ideal times of the job, which become peer_ns of the edges
 * @return       TM_OK; TM_ERR_FAULT. The caller must free @p out with tm_graph_free, even after an
 *               error.
 */
tm_status tm_ops_graph(const tm_ops_input *input, const tm_ops_times *ideal, tm_graph *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
