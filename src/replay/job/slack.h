/* Slack: how much later an event could be without delaying the end of the job. */
#ifndef TMERGE_REPLAY_SLACK_H
#define TMERGE_REPLAY_SLACK_H

#include "replay/graph/graph.h"

typedef struct tm_slack {
    int64_t least_ns; /* smallest slack of the rank's events; -1 if no step's end depends on the
                         rank */
    int64_t near_ns;  /* time of compute kernels and copies whose slack is below the limit */
} tm_slack;

/**
 * Finds the slack of a rank by propagating the latest times back through its graph.
 *
 * @param participants_ns  [participants] latest time of each operation; INT64_MAX: nothing depends
 *                   on the operation
 * @param steps_ns   [steps] latest end of each step; INT64_MAX: nothing depends on the end
 * @param below_ns   limit for near_ns: work with less slack than this is included
 * @param late_ns    [nodes] set to the latest time of each node, or to INT64_MAX
 */
tm_slack tm_slack_find(const tm_graph *graph, const int64_t *participants_ns,
                       const int64_t *steps_ns, int64_t below_ns, int64_t *late_ns);

/** Consecutive GPU events of a stream, and how much later they could end. Sent as bytes. */
typedef struct tm_slack_run {
    int64_t rank, stream;
    int64_t begin_ns; /* start of the first event, since the root */
    /* smallest and largest slack of the events; INT64_MAX if no step's end depends on an event */
    int64_t least_ns, most_ns;
    int32_t device;
    uint32_t n; /* number of events */
} tm_slack_run;

/** Times of nodes. The times of node v are at index v * stride. */
typedef struct tm_slack_times {
    /* recorded and latest times; for a rank of a batch, both point to the rank's lane of the first
     * node */
    const int64_t *ns, *late_ns;
    size_t stride;
} tm_slack_times;

/**
 * Appends the slack of a rank's events, stream by stream. Adjacent events with equal slack form a
 * run. If there are too many runs, merges adjacent runs. Runs with similar slack are merged first.
 * A merged run has the smallest and the largest slack of its events.
 *
 * @param graph  graph of the rank, or of its batch
 * @param most   maximum number of runs, but each stream has at least one run
 * @param runs   vector of tm_slack_run: the runs are appended
 * @return       false when out of memory
 */
bool tm_slack_runs(const tm_timeline *timeline, const tm_graph *graph, const tm_slack_times *times,
                   size_t most, tm_vec *runs) TM_MUST_CHECK;

#endif
