/* Analysis `launches`: how fast the host launches work for the GPU. */
#include "tmerge/analysis.h"

#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/call_kinds.h"
#include "analysis/shared/gaps.h"
#include "api_calls.h"
#include "base/median.h"
#include "base/sums.h"
#include "over_time.h"

enum {
    RANK,
    EVENTS,
    UNLINKED,
    LAUNCHES,
    PER_EVENT,
    CALL,
    MEAN_CALL,
    MEAN_LATENCY,
    MEDIAN_LATENCY,
    P95_LATENCY,
    MAX_LATENCY,
    MEAN_QUEUE,
    MAX_QUEUE,
    HOST_BOUND,
    HOST_BOUND_PCT,
    SHORT,
    SHORT_PCT,
    GRAPHS,
    GRAPH_EVENTS
};

static const tm_column rank_columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [EVENTS] = {"events", TM_INT, "",
                "Number of kernels, copies and sets whose launch is in the trace. All columns "
                "except unlinked count only these events."},
    [UNLINKED] = {"unlinked", TM_INT, "",
                  "Number of kernels, copies and sets whose launch is not in the trace."},
    [LAUNCHES] = {"launches", TM_INT, "",
                  "Number of calls that launched the events. The launch of a graph is one call."},
    [PER_EVENT] = {"launches_per_event", TM_REAL, "",
                   "Number of calls per event: launches / events. 1 without graphs."},
    [CALL] = {"call_ns", TM_INT, "ns",
              "Time that host threads spent in the calls that launched the events. Null if only "
              "the starts of calls are recorded; mean_call_ns, short_events and short_pct are then "
              "null, too."},
    [MEAN_CALL] = {"mean_call_ns", TM_INT, "ns",
                   "Mean duration of a launch call: call_ns / launches."},
    [MEAN_LATENCY] = {"mean_latency_ns", TM_INT, "ns",
                      "Mean latency: time from the end of the launch call to the start on the GPU, "
                      "at least 0. On a busy GPU this is mostly time in the queue."},
    [MEDIAN_LATENCY] =
        {"median_latency_ns", TM_INT, "ns",
         "Median latency: time from the end of the launch call to the start on the GPU."},
    [P95_LATENCY] = {"p95_latency_ns", TM_INT, "ns",
                     "95th percentile of the latency: time from the end of the launch call to the "
                     "start on the GPU."},
    [MAX_LATENCY] =
        {"max_latency_ns", TM_INT, "ns",
         "Largest latency: time from the end of the launch call to the start on the GPU."},
    [MEAN_QUEUE] = {"mean_queue", TM_REAL, "",
                    "Mean number of events that were launched but had not started. Computed as the "
                    "time from the start of the launch call to the start on the GPU, summed over "
                    "events, divided by the rank's window (overlap.rank.window_ns)."},
    [MAX_QUEUE] = {"max_queue", TM_INT, "",
                   "Largest number of events on a stream that were launched but had not started."},
    [HOST_BOUND] = {"host_bound_events", TM_INT, "",
                    "Number of events whose stream had nothing queued: their launch call ended "
                    "after the previous event on the stream, with the exceptions of "
                    "idle.rank.host_wait_ns."},
    [HOST_BOUND_PCT] = {"host_bound_pct", TM_REAL, "%",
                        "Share of events whose stream had nothing queued: 100 host_bound_events / "
                        "events. Near 100, the host sets the pace."},
    [SHORT] = {"short_events", TM_INT, "",
               "Number of events that took less time than their launch call. Events that a graph "
               "launched do not count."},
    [SHORT_PCT] =
        {"short_pct", TM_REAL, "%",
         "Share of events that took less time than their launch call: 100 short_events / events."},
    [GRAPHS] = {"graph_launches", TM_INT, "", "Number of launch calls that launched a graph."},
    [GRAPH_EVENTS] = {"graph_events", TM_INT, "", "Number of events that were launched by graphs."},
};

static const tm_table_def rank_def = {
    .name = "launches.rank",
    .doc = "A row for each rank: how fast the host feeds the GPU.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = HOST_BOUND_PCT,
    .form = TM_FORM_BARS,
};

static const tm_column queue_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"time_ns", TM_INT, tm_epoch_ns, "Aligned start of the interval, since the epoch."},
    {"mean_queue", TM_REAL, "",
     "Mean number of events that were launched but had not started, in this interval and over all "
     "streams."},
};

static const tm_table_def queue_def = {
    .name = "launches.queue",
    .doc = "A row for each interval of a rank: 1/64 of the time from the first start to the last "
           "end of its GPU events. Limited to the 64 ranks with the largest host_bound_pct.",
    TM_ARRAY(columns, queue_columns),
    .n_keys = 2,
    .top = 2,
    .form = TM_FORM_LINE,
};

static const tm_table_def *const defs[] = {&rank_def, &queue_def, &tm_api_table,
                                           &tm_api_part_table};

/* Totals of a rank. */
typedef struct tally {
    const tm_timeline *timeline;
    tm_call_kinds *call_kinds;
    uint8_t *called;    /* [n_events] whether this launch call has been counted */
    int64_t *latencies; /* [GPU events] launch latencies of the events counted so far */
    int64_t *launched;  /* [GPU events] for the events of one stream: starts of the calls that
                           launched them */
    int64_t *begun;     /* [GPU events] starts of the events of one stream, ascending */
    int64_t events, unlinked, launches, call_ns, latency_ns, max_queue;
    int64_t host_bound, shorter, graphs, graph_events;
    /* A double, because queue times overlap, so that their sum may exceed any integer. */
    double queued_ns;
    tm_over_time queue;
} tally;

/* Counts a launch call once, even if it launched many events as a graph. */
static void count_call(tally *t, uint32_t call, bool graph) {
    if (t->called[call])
        return;
    t->called[call] = 1;
    t->launches++;
    t->call_ns = tm_sum(t->call_ns, t->timeline->duration_ns[call]);
    t->graphs += graph;
}

/* Counts an event. The duration of an event of a graph is not compared with the duration of its
 * call, because the call launched many events. */
static void count_event(tally *t, size_t row, uint32_t call) {
    const tm_timeline *timeline = t->timeline;
    int64_t begin = timeline->begin_ns[row], call_begin = timeline->begin_ns[call];
    /* negative if the event started before its call returned */
    int64_t late = begin - call_begin - timeline->duration_ns[call];
    bool graph = tm_call_kinds_at(t->call_kinds, timeline->name[call]) == TM_CALL_KIND_GRAPH;
    late = late > 0 ? late : 0;
    count_call(t, call, graph);
    t->latency_ns = tm_sum(t->latency_ns, late);
    t->latencies[t->events++] = late;
    t->queued_ns += begin > call_begin ? (double)(begin - call_begin) : 0.0;
    tm_over_time_add(&t->queue, call_begin, begin);
    t->graph_events += graph;
    t->shorter += !graph && timeline->duration_ns[row] < timeline->duration_ns[call];
}

/* Updates max_queue for a stream. When launch call i starts (from 0), i + 1 events count as
 * launched. Of these, n_begun have started, and the others are in the queue. */
static void count_queue(tally *t, size_t n) {
    size_t n_begun = 0;
    for (size_t i = 1; i < n; i++)
        if (t->launched[i] < t->launched[i - 1]) { /* launches of several threads */
            tm_sort_values(t->launched, n);
            break;
        }
    for (size_t i = 0; i < n; i++) {
        while (n_begun < n && t->begun[n_begun] <= t->launched[i])
            n_begun++;
        int64_t queued = (int64_t)i + 1 - (int64_t)n_begun;
        t->max_queue = queued > t->max_queue ? queued : t->max_queue;
    }
}

/* Counts the events of a stream. Each stream has its own queue. */
static void count_stream(tally *t, const tm_track *track) {
    const tm_timeline *timeline = t->timeline;
    int64_t ended = INT64_MAX;     /* INT64_MAX: no previous event */
    uint32_t before = TM_NO_EVENT; /* the call that launched the previous event */
    size_t n = 0;
    for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
        if (timeline->role[row] == TM_ROLE_NONE)
            continue;
        uint32_t call = timeline->launch[row];
        int64_t end = timeline->begin_ns[row] + timeline->duration_ns[row];
        if (call == TM_NO_EVENT) {
            t->unlinked++;
        } else {
            count_event(t, row, call);
            t->host_bound += tm_queue_was_empty(timeline, row, before, ended);
            t->launched[n] = timeline->begin_ns[call];
            t->begun[n++] = timeline->begin_ns[row];
        }
        ended = ended == INT64_MAX || end > ended ? end : ended;
        before = call;
    }
    count_queue(t, n);
}

static void set_latencies(tm_cell *row, tally *t) {
    size_t n = (size_t)t->events;
    int64_t longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = t->latencies[i] > longest ? t->latencies[i] : longest;
    tm_cell_set_int(&row[MEAN_LATENCY], tm_round_ratio(t->latency_ns, t->events));
    tm_cell_set_int(&row[MEDIAN_LATENCY], tm_median_any(t->latencies, n));
    tm_cell_set_int(&row[P95_LATENCY], tm_percentile_95(t->latencies, n));
    tm_cell_set_int(&row[MAX_LATENCY], longest);
    if (t->call_ns > 0)
        tm_cell_set_int(&row[MEAN_CALL], tm_round_ratio(t->call_ns, t->launches));
}

/* Adds the rank's row. Shares are null if the rank launched nothing. */
static tm_status add_row(const tm_rank_view *view, tally *t, tm_table *table, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    int64_t window_ns = tm_busy_rank(view->busy).window_ns;
    tm_cell_set_int(&row[RANK], view->timeline->rank);
    tm_cell_set_int(&row[EVENTS], t->events);
    tm_cell_set_int(&row[UNLINKED], t->unlinked);
    tm_cell_set_int(&row[LAUNCHES], t->launches);
    tm_cell_set_ratio(&row[PER_EVENT], 1.0, t->launches, t->events);
    bool lengths = t->call_ns > 0 || t->events == 0;
    if (lengths)
        tm_cell_set_int(&row[CALL], t->call_ns);
    if (t->events > 0)
        set_latencies(row, t);
    if (window_ns > 0)
        tm_cell_set_real(&row[MEAN_QUEUE], t->queued_ns / (double)window_ns);
    tm_cell_set_int(&row[MAX_QUEUE], t->max_queue);
    tm_cell_set_int(&row[HOST_BOUND], t->host_bound);
    tm_cell_set_ratio(&row[HOST_BOUND_PCT], 100.0, t->host_bound, t->events);
    if (lengths) {
        tm_cell_set_int(&row[SHORT], t->shorter);
        tm_cell_set_ratio(&row[SHORT_PCT], 100.0, t->shorter, t->events);
    }
    tm_cell_set_int(&row[GRAPHS], t->graphs);
    tm_cell_set_int(&row[GRAPH_EVENTS], t->graph_events);
    return TM_OK;
}

static tm_status add_queue(const tally *t, tm_table *table, tm_error *err) {
    for (int part = 0; part < TM_PARTS && t->events > 0; part++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], t->timeline->rank);
        tm_cell_set_int(&row[1], tm_over_time_begin(&t->queue, t->timeline, part));
        tm_cell_set_real(&row[2], tm_over_time_mean(&t->queue, part));
    }
    return TM_OK;
}

static tm_status launches_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    size_t n = view->timeline->n_events, n_gpu = 0;
    for (size_t i = 0; i < view->timeline->n_tracks; i++)
        if (view->timeline->tracks[i].kind == TM_TRACK_GPU)
            n_gpu += view->timeline->tracks[i].count;
    tally t = {
        .timeline = view->timeline, .call_kinds = view->call_kinds, .called = calloc(n + 1, 1)};
    t.queue = tm_over_time_make(view->timeline);
    /* one allocation for three arrays; a stream has at most n_gpu calls and events */
    t.latencies = malloc((3 * n_gpu + 1) * sizeof *t.latencies);
    bool ok = t.called && t.latencies;
    tm_status status = TM_OK;
    if (ok) {
        t.launched = t.latencies + n_gpu;
        t.begun = t.launched + n_gpu;
        for (size_t i = 0; i < view->timeline->n_tracks; i++)
            if (view->timeline->tracks[i].kind == TM_TRACK_GPU)
                count_stream(&t, &view->timeline->tracks[i]);
        status = add_row(view, &t, tm_tables_find(out, rank_def.name), err);
        if (status == TM_OK)
            status = add_queue(&t, tm_tables_find(out, queue_def.name), err);
    } else {
        status = tm_fail_memory(err);
    }
    free(t.called);
    free(t.latencies);
    return status == TM_OK ? tm_api_rank(view, out, err) : status;
}

static tm_status launches_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_table_top(tm_tables_find(out, tm_api_table.name), SIZE_MAX); /* sorts the largest first */
    return tm_over_time_keep(tm_tables_find(out, queue_def.name),
                             tm_tables_find(out, rank_def.name), HOST_BOUND_PCT, err);
}

const tm_analysis tm_analysis_launches = {
    .name = "launches",
    .summary = "how fast the host feeds the GPU: latency, queue, graphs",
    TM_ARRAY(tables, defs),
    .rank = launches_rank,
    .merge = tm_api_merge,
    .job = launches_job,
};
