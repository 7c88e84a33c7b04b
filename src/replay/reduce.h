/* A rank's graph without all that lies between its ports: how long after the root and the
 * operations that the rank takes part in it can come to its next operations and to the ends of its
 * steps.
 *
 * A link stands for the longest way from one port to another, in each of several sets of weights. A
 * way that leads past the rank's arrival at an operation is none of its own where it is no longer
 * than what leads there and on from there, in all sets: an operation is never before its members.
 * Where many ways are left all the same, they are joined in a node, which then is like an operation
 * of this rank alone. So few links are left, and the times that follow from them are exactly those
 * of the graph. */
#ifndef TMERGE_REPLAY_REDUCE_H
#define TMERGE_REPLAY_REDUCE_H

#include "replay/crew/crew.h"

/** Tells the weight of an edge in each set.
 * @param ns  [n_sets] to be set; there is room for whole rows (base/lanes.h) */
typedef void tm_weigh(const void *context, const tm_graph *graph, uint32_t node, uint32_t edge,
                      int64_t *ns);

/** An operation that a rank takes part in, or a node in which its ways are joined. */
typedef struct tm_port {
    uint64_t operation;
    int64_t last_ns;
} tm_port;

typedef struct tm_link {
    uint32_t from; /* visit, or TM_FROM_ROOT */
    uint32_t to;   /* visit, from which it arrives there; n_visits + k: end of step k */
} tm_link;

/** What is left of a rank's graph. A view: the arrays lie in the words of tm_reduce. */
typedef struct tm_reduced {
    int64_t rank;
    size_t n_sets, n_visits, n_steps, n_links;
    int64_t n_left_out;    /* ways from operations that are not before those they lead to */
    const tm_port *visits; /* [n_visits] ascending in time: (last_ns, operation) */
    const int64_t *steps;  /* [n_steps] their numbers, ascending */
    const tm_link *links;  /* [n_links] ascending in to, then from, the root last */
    const int64_t *ns;     /* [n_links][n_sets] */
} tm_reduced;

/**
 * Appends what is left of a graph to words that can be sent to other processes, and put behind
 * those of other ranks in any order. An arrival to which a way was left out is not before its
 * recorded time in any set: savings are then a lower bound.
 *
 * @param words  of int64_t; on failure as it was
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_reduce(const tm_graph *graph, size_t n_sets, tm_weigh *weigh, const void *context,
                    tm_vec *words, tm_error *err) TM_MUST_CHECK;

/**
 * The same for all ranks of a crew: where the weights of each set stand.
 * @param room  [sets + 3] for such as stand nowhere yet
 * @param by    [sets] to be set
 */
typedef void tm_weigh_crew(const void *context, const tm_crew *crew, const tm_crew_desk *desk,
                           uint32_t edge, tm_crew_row *room, const int64_t **by);

/** What a crew is reduced with. */
typedef struct tm_crew_sets {
    size_t n;
    tm_weigh_crew *weigh;
    const void *context;
} tm_crew_sets;

/**
 * As tm_reduce, of all ranks of a crew.
 * @param desk  with the peers of this crew
 * @param done  false where a rank has too many ways: words are as they were, and each rank is to be
 *              reduced by itself
 */
tm_status tm_reduce_crew(const tm_crew *crew, tm_crew_desk *desk, const tm_crew_sets *sets,
                         bool *done, tm_vec *words, tm_error *err) TM_MUST_CHECK;

/** Shows the first rank of these words; returns how many words are its. */
size_t tm_reduced_read(const int64_t *words, tm_reduced *out);

#endif
