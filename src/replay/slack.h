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
 * @param late_ns    [nodes] to be set: the latest time of each, likewise
 */
tm_slack tm_slack_find(const tm_graph *graph, const int64_t *visits_ns, const int64_t *steps_ns,
                       int64_t below_ns, int64_t *late_ns);

/** GPU events that follow one another on a stream, and how much later each could end. Sent as
 * bytes. */
typedef struct tm_slack_run {
    int64_t rank, stream;
    int64_t begin_ns;          /* of the first, since the root */
    int64_t least_ns, most_ns; /* INT64_MAX: no step's end depends on any, on one */
    int32_t device;
    uint32_t n; /* events */
} tm_slack_run;

/** Where the times of nodes stand: those of node v are element v * stride. */
typedef struct tm_slack_times {
    const int64_t *ns, *late_ns; /* when it was, and the latest; of a crew's rank, its lane */
    size_t stride;
} tm_slack_times;

/**
 * Appends what the events of a rank's streams could be later by: stream after stream, a run for all
 * neighbours that have the same slack. Where there are too many runs, neighbours that have about
 * the same are joined, the nearest first; a run then has the least and the most of its events.
 *
 * @param graph  of the rank, or the one that its crew shares
 * @param most   runs; a stream has one at least
 * @param runs   of tm_slack_run
 * @return       false when memory is out
 */
bool tm_slack_runs(const tm_timeline *timeline, const tm_graph *graph, const tm_slack_times *times,
                   size_t most, tm_vec *runs) TM_MUST_CHECK;

#endif
