/* Jobs for the replay tests, and a reference that computes their times from the full graphs. */
#ifndef TMERGE_REPLAY_FIXTURE_H
#define TMERGE_REPLAY_FIXTURE_H

#include "replay/job/replay_job.h"
#include "run_fixture.h"

enum { REPLAY_RANKS = 10, REPLAY_SETS = 4, REPLAY_OPERATIONS = 64, REPLAY_STEPS = 4 };

/** A rank's graph under construction. `graph` is set by replay_finish. */
typedef struct replay_rank {
    tm_graph graph;
    tm_vec first, edges; /* of uint32_t, tm_edge */
    tm_vec weights;      /* of int64_t: [edges][REPLAY_SETS] */
} replay_rank;

typedef struct replay_case {
    size_t n_ranks;
    replay_rank ranks[REPLAY_RANKS]; /* ranks[i] has rank number 10 + i */
} replay_case;

/** Earliest times (forward) or latest allowed times (backward) of nodes, operations and steps. */
typedef struct replay_times {
    int64_t *nodes[REPLAY_RANKS];          /* owned */
    int64_t operations[REPLAY_OPERATIONS]; /* by operation id */
    int64_t steps[REPLAY_STEPS]; /* end of each step, by step number; replay_backward does not set
                                    these */
} replay_times;

/** Begins a node; add its in-edges before the next node. */
uint32_t replay_node(replay_case *c, size_t rank);

/** Adds an in-edge to the last node. @param ns [REPLAY_SETS] weights; the first is as recorded */
void replay_edge(replay_case *c, size_t rank, uint32_t from, const int64_t *ns);

/** Adds an arrival of the node at an operation, whose id is below REPLAY_OPERATIONS. Returns the
 * arrival as an edge source. */
uint32_t replay_participant(replay_case *c, size_t rank, uint32_t node, uint64_t operation);
void replay_step(replay_case *c, size_t rank, uint32_t node, int64_t number);

/** Sets the recorded times and the order of arrivals. */
void replay_finish(replay_case *c);
void replay_free(replay_case *c);

/** Computes the times by passing over all graphs until nothing changes. */
void replay_forward(const replay_case *c, const uint8_t *set_of_rank, replay_times *times);

/** Computes the latest times in the same way, backward from the end of the last step. */
void replay_backward(const replay_case *c, const uint8_t *set_of_rank, int64_t total_ns,
                     replay_times *late);
void replay_times_free(replay_times *times);

/** A random case: it has calls, kernels, waits, steps, and operations of some of the ranks. */
typedef struct replay_shape {
    const char *what;
    size_t n_ranks, n_actions;
    uint32_t operations_in_100; /* percentage of actions that are operations */
    uint32_t zeros_in_100;      /* percentage of weights that are 0 */
    uint32_t misses_in_100;     /* percentage of stream ends that a step does not wait for */
    int64_t largest, least;     /* bounds of the weights [ns] */
} replay_shape;

void replay_random(const replay_shape *shape, uint64_t seed, replay_case *c);

/** Appends the reduced graphs of all ranks, last rank first if @p backward, to words of int64_t. */
void replay_words(const replay_case *c, bool backward, tm_vec *words);

/** Reduces all ranks with tm_reduce, in reverse order if @p backward, and builds the job. */
void replay_reduced(const replay_case *c, bool backward, tm_replay *job);

/** Weight callback for tm_reduce of one rank; the context is its replay_rank. */
void replay_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns);

#endif
