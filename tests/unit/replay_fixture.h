/* Jobs for the tests of the replay, and their times from the full graphs, in the simplest way. */
#ifndef TMERGE_REPLAY_FIXTURE_H
#define TMERGE_REPLAY_FIXTURE_H

#include "replay/job.h"
#include "run_fixture.h"

enum { REPLAY_RANKS = 10, REPLAY_SETS = 4, REPLAY_OPERATIONS = 64, REPLAY_STEPS = 4 };

/** A graph while it is made; afterwards it is `graph`. */
typedef struct replay_rank {
    tm_graph graph;
    tm_vec first, edges; /* of uint32_t, tm_edge */
    tm_vec weights;      /* of int64_t: [edges][REPLAY_SETS] */
} replay_rank;

typedef struct replay_case {
    size_t n_ranks;
    replay_rank ranks[REPLAY_RANKS]; /* rank number 10 + index */
} replay_case;

/** When everything is, or may be at the latest. */
typedef struct replay_times {
    int64_t *nodes[REPLAY_RANKS];          /* owned */
    int64_t operations[REPLAY_OPERATIONS]; /* by their id */
    int64_t steps[REPLAY_STEPS];           /* by their number: E_k, not of backward times */
} replay_times;

/** Begins a node; its in-edges are to be added before the next node. */
uint32_t replay_node(replay_case *c, size_t rank);

/** @param ns  [REPLAY_SETS] the first are the recorded weights */
void replay_edge(replay_case *c, size_t rank, uint32_t from, const int64_t *ns);

/** The source of an edge from an operation that the node arrives at; the id is below
 * REPLAY_OPERATIONS. */
uint32_t replay_visit(replay_case *c, size_t rank, uint32_t node, uint64_t operation);
void replay_step(replay_case *c, size_t rank, uint32_t node, int64_t number);

/** Sets recorded times and the order of visits. */
void replay_finish(replay_case *c);
void replay_free(replay_case *c);

/** Goes over all graphs until nothing changes any more. */
void replay_forward(const replay_case *c, const uint8_t *set_of_rank, replay_times *times);

/** The same backward, from the latest step end. */
void replay_backward(const replay_case *c, const uint8_t *set_of_rank, int64_t total_ns,
                     replay_times *late);
void replay_times_free(replay_times *times);

/** A case by its seed: calls, streams, waits, operations of some or all ranks, steps. */
typedef struct replay_shape {
    const char *what;
    size_t n_ranks, n_actions;
    uint32_t operations_in_100; /* of the actions */
    uint32_t zeros_in_100;      /* of the weights */
    uint32_t misses_in_100;     /* of the steps on a rank */
    int64_t largest, least;     /* weight */
} replay_shape;

void replay_random(const replay_shape *shape, uint64_t seed, replay_case *c);

/** What is left of all ranks, appended to words of int64_t. */
void replay_words(const replay_case *c, bool backward, tm_vec *words);

/** tm_reduce over all ranks, the last first where @p backward, and the job of them. */
void replay_reduced(const replay_case *c, bool backward, tm_replay *job);

/** For tm_reduce of one rank; the context is its replay_rank. */
void replay_weigh(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                  int64_t *ns);

#endif
