/* How late everything on a rank could be without the job ending later. */
#ifndef TMERGE_REPLAY_SLACK_H
#define TMERGE_REPLAY_SLACK_H

#include "graph.h"

typedef struct tm_slack {
    int64_t least_ns; /* of anything on the rank; -1 where nothing of it leads to an end */
    int64_t near_ns;  /* compute and copies with less than the given slack, summed */
} tm_slack;

/**
 * Goes through a graph from its end.
 *
 * @param visits_ns  [visits] the latest time of each operation; INT64_MAX: nothing depends on it
 * @param steps_ns   [steps] the same of the ends of steps
 * @param below_ns   what is near has less slack
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_slack_find(const tm_graph *graph, const int64_t *visits_ns, const int64_t *steps_ns,
                        int64_t below_ns, tm_slack *out, tm_error *err) TM_MUST_CHECK;

#endif
