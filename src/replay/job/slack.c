#include "slack.h"

#include <stdlib.h>

#include "base/sorted.h"

/* number of the merging pass in which all runs of a stream are merged into one */
enum { ALL_JOINED = 40 };

static void bring_down(int64_t *late, int64_t ns) {
    *late = ns < *late ? ns : *late;
}

/* Propagates latest times back through the graph. Returns the rank's slack. */
static tm_slack go_back(const tm_graph *graph, int64_t *late, int64_t below_ns) {
    tm_slack out = {.least_ns = -1};
    for (size_t v = graph->n_nodes; v-- > 0;) {
        if (late[v] == INT64_MAX)
            continue;
        const int64_t slack = late[v] - graph->ns[v];
        if (out.least_ns < 0 || slack < out.least_ns)
            out.least_ns = slack;
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            const int64_t ns = tm_graph_weight(graph, edge).ns;
            if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_OPERATION))
                bring_down(&late[edge->from], late[v] - ns);
            if (slack < below_ns && (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY))
                out.near_ns += ns;
        }
    }
    return out;
}

tm_slack tm_slack_find(const tm_graph *graph, const int64_t *participants_ns,
                       const int64_t *steps_ns, int64_t below_ns, int64_t *late_ns) {
    const tm_graph_participant *participants = graph->participants.data;
    const tm_graph_step *steps = graph->steps.data;
    for (size_t v = 0; v < graph->n_nodes; v++)
        late_ns[v] = INT64_MAX;
    for (size_t i = 0; i < graph->participants.n; i++)
        if (participants[i].node != TM_NO_NODE)
            bring_down(&late_ns[participants[i].node], participants_ns[i]);
    for (size_t k = 0; k < graph->steps.n; k++)
        bring_down(&late_ns[steps[k].node], steps_ns[k]);
    return go_back(graph, late_ns, below_ns);
}

/* A GPU event, and how much later it could end. */
typedef struct slacker {
    int64_t begin_ns, slack_ns;
    uint32_t row;
    bool known; /* the event is in the graph */
} slacker;

/* Sets the slack of each GPU event, by row. The first node of an event is its start; the last is
 * its end. */
static void find_events(const tm_graph *graph, const tm_slack_times *times, slacker *events,
                        size_t n) {
    for (size_t v = 0; v < graph->n_nodes; v++) {
        if (graph->event[v] >= n) /* skip calls and ends of steps */
            continue;
        slacker *e = &events[graph->event[v]];
        const int64_t ns = times->ns[v * times->stride], late = times->late_ns[v * times->stride];
        if (!e->known)
            e->begin_ns = ns;
        e->known = true;
        e->row = graph->event[v];
        e->slack_ns = late == INT64_MAX ? INT64_MAX : late - ns;
    }
}

TM_ORDER_BY(by_begin, slacker, begin_ns, row);

/* Keeps only the events that are in the graph, sorted by start. Returns their number. */
static size_t put_in_order(slacker *events, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (events[i].known)
            events[kept++] = events[i];
    /* if the stream is one track, the events are already in order */
    tm_sort(events, kept, sizeof *events, by_begin);
    return kept;
}

/* Appends the runs of one stream. */
static bool add_events(const slacker *events, size_t n, tm_slack_run like, tm_vec *runs) {
    tm_slack_run *last = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!last || last->least_ns != events[i].slack_ns) {
            like.begin_ns = events[i].begin_ns;
            like.least_ns = like.most_ns = events[i].slack_ns;
            last = tm_vec_append(runs, &like, 1);
        }
        if (!last)
            return false;
        last->n++;
    }
    return true;
}

static bool is_of(const tm_track *track, const tm_track *stream) {
    return track->kind == TM_TRACK_GPU && track->device == stream->device &&
           track->stream == stream->stream;
}

/* Returns by how much [ns] the slack of the events of a run may differ in merging pass @p nth. */
static int64_t allowed_ns(int64_t least_ns, int nth) {
    const int64_t part = 1000 + (least_ns > 0 ? least_ns / 64 : 0);
    return part > INT64_MAX >> nth ? INT64_MAX : part << nth;
}

/* Returns whether two runs are merged in pass @p nth. Events on which nothing depends are merged
 * with others only in the last pass. */
static bool can_join(const tm_slack_run *a, const tm_slack_run *b, int nth) {
    const int64_t least = a->least_ns < b->least_ns ? a->least_ns : b->least_ns;
    const int64_t most = a->most_ns > b->most_ns ? a->most_ns : b->most_ns;
    return a->device == b->device && a->stream == b->stream &&
           (nth == ALL_JOINED ||
            (most == INT64_MAX ? least == INT64_MAX : most - least <= allowed_ns(least, nth)));
}

static size_t join_runs(tm_slack_run *runs, size_t n, int nth) {
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        tm_slack_run *last = &runs[kept];
        if (!can_join(last, &runs[i], nth)) {
            runs[++kept] = runs[i];
            continue;
        }
        last->n += runs[i].n;
        last->least_ns = runs[i].least_ns < last->least_ns ? runs[i].least_ns : last->least_ns;
        last->most_ns = runs[i].most_ns > last->most_ns ? runs[i].most_ns : last->most_ns;
    }
    return n > 0 ? kept + 1 : 0;
}

bool tm_slack_runs(const tm_timeline *timeline, const tm_graph *graph, const tm_slack_times *times,
                   size_t most, tm_vec *runs) {
    const tm_track *tracks = timeline->tracks;
    const size_t before = runs->n;
    size_t n_tracks = 0, n = 0;
    while (n_tracks < timeline->n_tracks && tracks[n_tracks].kind == TM_TRACK_GPU)
        n += tracks[n_tracks++].count;
    slacker *events = calloc(n + 1, sizeof *events);
    bool ok = events != NULL;
    if (ok)
        find_events(graph, times, events, n);
    for (size_t k = 0, next = 0; ok && k < n_tracks; k = next) {
        const tm_slack_run like = {timeline->rank, tracks[k].stream, .device = tracks[k].device};
        size_t after = tracks[k].first;
        for (; next < n_tracks && is_of(&tracks[next], &tracks[k]); next++)
            after += tracks[next].count;
        slacker *own = &events[tracks[k].first];
        ok = add_events(own, put_in_order(own, after - tracks[k].first), like, runs);
    }
    free(events);
    for (int nth = 0; ok && runs->n - before > most && nth <= ALL_JOINED; nth++)
        runs->n = before + join_runs((tm_slack_run *)runs->data + before, runs->n - before, nth);
    return ok;
}
