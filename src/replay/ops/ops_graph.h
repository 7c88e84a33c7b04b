/* From the operations of a rank to its graph, in two rounds of questions to the other ranks: when
 * steps end, and when operations that join ranks begin.
 *
 * A member arrives when all has ended that it follows. The operation is there with its last member
 * (J), and begins when it was recorded to: what lies between the last arrival and that (and between
 * an operation of one rank and what it follows) is what nothing recorded explains, as launches or
 * the loading of data. It is the weight of edges of kind gap; all others are explained. A step
 * begins when all ranks have ended the one before. */
#ifndef TMERGE_REPLAY_OPS_GRAPH_H
#define TMERGE_REPLAY_OPS_GRAPH_H

#include "ops_draft.h"
#include "replay/graph.h"

/** One member of what joins ranks, on its way to where all of them meet, and back. Sent as bytes.
 */
typedef struct tm_ops_member {
    uint64_t operation;
    int64_t arrival_ns; /* back: the latest of all members */
    int64_t begin_ns;   /* likewise */
    uint32_t rank;      /* which of those that its process holds */
    uint32_t part;      /* index in the draft: of parts, or of ends */
    int32_t origin;     /* the process */
    int32_t is_end;
} tm_ops_member;

/** Adds the ends of steps. False when memory is out. */
bool tm_ops_ask_ends(const tm_ops_draft *draft, uint32_t rank, int32_t origin, tm_vec *members);

/** Finds when operations arrive, then adds those that join ranks. Needs the answers to the first
 * question. False when memory is out. */
bool tm_ops_ask_joins(tm_ops_draft *draft, uint32_t rank, int32_t origin, tm_vec *members);

/** Answers: sets the latest times of each operation on all of its members, which must all be
 * there. */
void tm_ops_answer(tm_vec *members);

/** Takes an answer. */
void tm_ops_take(tm_ops_draft *draft, const tm_ops_member *answer);

/** How long operations of each type take. */
typedef struct tm_ops_times {
    int64_t ns[TM_N_OPS_TYPES];
} tm_ops_times;

/** How long an operation took: of one that joins ranks, its transfer. */
int64_t tm_ops_time(const tm_ops_part *part);

/** What one operation took, to be averaged over the job. Sent as bytes. */
typedef struct tm_ops_sample {
    int64_t ns;
    int64_t type;
} tm_ops_sample;

/** Adds a rank's samples. False when memory is out. */
bool tm_ops_sample_rank(const tm_ops_draft *draft, tm_vec *samples);

/** What is ideal: of computation the mean over the job, of communication the median.
 * @param samples  of tm_ops_sample, of all ranks; sorted */
tm_ops_times tm_ops_ideal(tm_vec *samples);

/**
 * Builds the graph.
 * @param ideal  of the job: the peer weights
 * @return       TM_OK; TM_ERR_FAULT; free it with tm_graph_free in either case
 */
tm_status tm_ops_graph(const tm_ops_draft *draft, const tm_ops_times *ideal, tm_graph *out,
                       tm_error *err) TM_MUST_CHECK;

#endif
