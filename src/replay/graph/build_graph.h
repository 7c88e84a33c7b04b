/* Builds a rank's graph from its recorded events. */
#ifndef TMERGE_REPLAY_BUILD_GRAPH_H
#define TMERGE_REPLAY_BUILD_GRAPH_H

#include "graph.h"
#include "recorded.h"

/** A rank's participation in an operation. Sent as bytes, from the process that owns the
 * operation's group to the process that holds the rank. */
typedef struct tm_replay_participant {
    int64_t rank;
    int64_t last_ns;  /* time at which the last rank arrived (L), in ns since the root */
    int64_t usual_ns; /* usual transfer time: median of (end - L) over operations of the same kind,
                         group and size */
    uint64_t operation; /* id of the operation, unique in the job and equal on all members */
    int64_t end_ns; /* median end of the other members; set only if the rank's kernel is missing */
    uint32_t event; /* row of the rank's kernel, or TM_NO_EVENT if the kernel is missing */
    int32_t origin; /* process that holds the rank */
} tm_replay_participant;

/**
 * Builds the graph.
 *
 * @param recorded  recorded waits of the rank, with a pointer to the rank's tm_graph_input
 * @param waits     vector of tm_part_wait, ascending in event
 * @param participants    [n] participations of the rank, ascending in event. Participations without
 *                  a kernel come last, ascending in end_ns.
 * @return          TM_OK; TM_ERR_FAULT. The caller must free @p out with tm_graph_free, even after
 *                  an error.
 */
tm_status tm_graph_build(const tm_recorded *recorded, const tm_vec *waits,
                         const tm_replay_participant *participants, size_t n, tm_graph *out,
                         tm_error *err) TM_MUST_CHECK;

/**
 * Sets `event` in a graph that tm_graph_build built. This is a separate function, so that the array
 * takes no memory while other graphs are built.
 * @param rows         [n_items] row of each item
 * @param keeps_parts  if false, `event` takes over the memory of `parts`, and `parts` becomes NULL
 * @return             false when out of memory
 */
bool tm_graph_set_events(tm_graph *graph, const uint32_t *rows, size_t n_items,
                         bool keeps_parts) TM_MUST_CHECK;

/** Counts the nodes whose recorded time the graph does not reproduce. More than 0 is a bug. */
size_t tm_graph_wrong(const tm_graph *graph);

#endif
