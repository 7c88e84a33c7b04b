/* From a rank's parts to its graph. */
#ifndef TMERGE_REPLAY_BUILD_H
#define TMERGE_REPLAY_BUILD_H

#include "graph.h"
#include "recorded.h"

/** What the process that owns an operation tells those that hold its members. Sent as bytes. */
typedef struct tm_replay_visit {
    int64_t rank;
    int64_t last_ns;    /* L, since the root */
    int64_t usual_ns;   /* the median of end - L over operations of its kind, group and size */
    uint64_t operation; /* unique in the job, the same on all members */
    int64_t end_ns;     /* where the rank's kernel is missing: the median end of the others */
    uint32_t event;     /* row of the member, TM_NO_EVENT where it is missing */
    int32_t origin;     /* the process that holds the rank */
} tm_replay_visit;

/**
 * Builds the graph.
 *
 * @param recorded  of the rank's draft, which it knows
 * @param waits     of tm_part_wait, ascending in event
 * @param visits  [n] of this rank, ascending in event; those that are missing are last, ascending
 *                in end_ns
 * @return        TM_OK; TM_ERR_FAULT; free it with tm_graph_free in either case
 */
tm_status tm_graph_build(const tm_recorded *recorded, const tm_vec *waits,
                         const tm_replay_visit *visits, size_t n, tm_graph *out,
                         tm_error *err) TM_MUST_CHECK;

/** How many nodes a graph cannot give their recorded time: none, unless it is wrong. */
size_t tm_graph_wrong(const tm_graph *graph);

#endif
