/* The order of a graph's visits. */
#ifndef TMERGE_REPLAY_OPS_VISITS_H
#define TMERGE_REPLAY_OPS_VISITS_H

#include "replay/graph.h"

/** Puts visits in the order (last_ns, operation), and edges from them behind that. False when
 * memory is out; the graph is as it was then. */
bool tm_ops_sort_visits(tm_graph *graph) TM_MUST_CHECK;

#endif
