/* Sorts a graph's participations. */
#ifndef TMERGE_REPLAY_OPS_PARTICIPANTS_H
#define TMERGE_REPLAY_OPS_PARTICIPANTS_H

#include "replay/graph/graph.h"

/** Sorts the participations by (last_ns, operation), and updates the edges that start at
 * participations. Returns false when out of memory; the graph is then unchanged. */
bool tm_ops_sort_participants(tm_graph *graph) TM_MUST_CHECK;

#endif
