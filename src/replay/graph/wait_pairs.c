#include "wait_pairs.h"

#include <stdlib.h>

#include "base/hash.h"

/* BACK: how many of a stream's latest events are searched. RING: size of the ring buffer that holds
 * these events. */
enum { BACK = 24, RING = 32 };
/* If an event starts at most this long after the end of another event, this end may have caused the
 * start. */
static const int64_t TIGHT_NS = 6000;

/* The events of a stream that were launched last. */
typedef struct stream {
    size_t n;              /* number of events launched so far */
    uint32_t latest[RING]; /* the i-th launched event is at i modulo RING */
} stream;

/* State of a pass over the events in the order of their launches. */
typedef struct walk {
    const tm_graph_input *input;
    stream *streams; /* owned; by track */
    size_t n;
    size_t n_waits; /* number of calls so far that made a stream wait */
    /* owned; [n] for each stream: value of n_waits when the stream's latest event was launched */
    int64_t *seen;
    bool asked;    /* a call may have asked for waits of the current event */
    bool in_graph; /* the event can only have waited inside its CUDA graph */
} walk;

static bool walk_begin(walk *w, const tm_graph_input *input) {
    size_t n = input->timeline->n_tracks;
    *w = (walk){.input = input, .n = n};
    w->streams = calloc(n + 1, sizeof *w->streams);
    w->seen = calloc(n + 1, sizeof *w->seen);
    return w->streams && w->seen;
}

static void walk_end(walk *w) {
    free(w->streams);
    free(w->seen);
}

/* Advances to event i. Sets `asked` if a call made a stream wait since the launch of the previous
 * event on the same stream. Returns whether the event may have waited. Without such a call, it may
 * have waited inside its CUDA graph, or if the rank has no calls that make a stream wait. */
static bool may_wait(walk *w, uint32_t i) {
    const tm_part_event *e = (const tm_part_event *)w->input->events.data + i;
    const tm_vec *waits = &w->input->stream_waits;
    w->asked = w->in_graph = false;
    if (e->call == TM_NO_PART || waits->n == 0)
        return e->call != TM_NO_PART;
    int64_t launch = ((const tm_part_call *)w->input->calls.data)[e->call].begin_ns;
    while (w->n_waits < waits->n &&
           ((const tm_part_pause *)waits->data)[w->n_waits].begin_ns <= launch)
        w->n_waits++;
    w->asked = (int64_t)w->n_waits > w->seen[e->stream];
    w->in_graph = !w->asked && tm_graph_input_in_graph(w->input, i);
    w->seen[e->stream] = (int64_t)w->n_waits;
    return w->asked || w->in_graph;
}

/* Returns the event that was launched on a stream @p back events before event i; TM_NO_PART if
 * event i cannot have waited for it or for an earlier one. */
static uint32_t event_before(const walk *w, const stream *launched, size_t back, uint32_t i) {
    const tm_part_event *events = w->input->events.data;
    if (back > launched->n || back > BACK)
        return TM_NO_PART;
    const uint32_t u = launched->latest[(launched->n - back) % RING];
    return w->in_graph && events[u].call != events[i].call ? TM_NO_PART : u;
}

static void walk_on(walk *w, uint32_t i) {
    const tm_part_event *e = (const tm_part_event *)w->input->events.data + i;
    stream *s = &w->streams[e->stream];
    s->latest[s->n++ % RING] = i;
}

static uint64_t pair_key(const tm_graph_input *d, uint32_t source, uint32_t event) {
    const tm_part_event *u = (const tm_part_event *)d->events.data + source;
    const tm_part_event *v = (const tm_part_event *)d->events.data + event;
    int64_t apart = (int64_t)v->step - u->step;
    const uint64_t key[4] = {tm_graph_input_position(d->timeline, u->row, u->nth),
                             tm_graph_input_position(d->timeline, v->row, v->nth), (uint64_t)apart,
                             (uint64_t)d->stage};
    return tm_hash_words(0, key, 4);
}

static bool is_tight(const tm_graph_input *d, const tm_part_event *u, const tm_part_event *v) {
    const tm_part_event *events = d->events.data;
    bool idle = v->before == TM_NO_PART || events[v->before].end_ns < u->end_ns;
    return idle && v->begin_ns >= u->end_ns && v->begin_ns <= u->end_ns + TIGHT_NS;
}

static bool scan_stream(const walk *w, const stream *launched, uint32_t i, tm_pairs *pairs) {
    const tm_graph_input *d = w->input;
    const tm_part_event *events = d->events.data;
    uint32_t u;
    for (size_t back = 1; (u = event_before(w, launched, back, i)) != TM_NO_PART; back++) {
        bool broken = events[u].end_ns > events[i].begin_ns + TM_PAIR_SLACK_NS;
        bool tight = !broken && !w->asked && is_tight(d, &events[u], &events[i]);
        if (!broken && !tight)
            continue;
        uint64_t key = pair_key(d, u, i);
        if (tm_keys_add(broken ? &pairs->broken : &pairs->tight, &key) == TM_NO_KEY)
            return false;
    }
    return true;
}

tm_status tm_pairs_scan(const tm_graph_input *input, tm_pairs *pairs, tm_error *err) {
    walk w;
    const tm_part_event *events = input->events.data;
    bool ok = walk_begin(&w, input);
    for (uint32_t i = 0; i < input->events.n && ok; i++) {
        bool may = may_wait(&w, i);
        for (size_t k = 0; k < w.n && ok && may; k++)
            if (k != events[i].stream)
                ok = scan_stream(&w, &w.streams[k], i, pairs);
        walk_on(&w, i);
    }
    walk_end(&w);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the latest event of a stream for which event i can have waited; TM_NO_PART if there is
 * none. */
static uint32_t pick_of_stream(const walk *w, const stream *launched, uint32_t i,
                               const tm_pairs *pairs) {
    const tm_graph_input *d = w->input;
    const tm_part_event *events = d->events.data;
    uint32_t u;
    for (size_t back = 1; (u = event_before(w, launched, back, i)) != TM_NO_PART; back++) {
        if (events[u].end_ns > events[i].begin_ns + TM_PAIR_SLACK_NS)
            continue;
        uint64_t key = pair_key(d, u, i);
        if (tm_keys_find(&pairs->broken, &key) != TM_NO_KEY)
            continue;
        if (w->asked || tm_keys_find(&pairs->tight, &key) != TM_NO_KEY)
            return u;
    }
    return TM_NO_PART;
}

tm_status tm_pairs_pick(const tm_graph_input *input, const tm_pairs *pairs, tm_vec *waits,
                        tm_error *err) {
    walk w;
    const tm_part_event *events = input->events.data;
    bool ok = walk_begin(&w, input);
    for (uint32_t i = 0; i < input->events.n && ok; i++) {
        bool may = may_wait(&w, i);
        for (size_t k = 0; k < w.n && ok && may; k++) {
            if (k == events[i].stream)
                continue;
            const tm_part_wait wait = {i, pick_of_stream(&w, &w.streams[k], i, pairs)};
            ok = wait.source == TM_NO_PART || tm_vec_append(waits, &wait, 1);
        }
        walk_on(&w, i);
    }
    walk_end(&w);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_pairs_free(tm_pairs *pairs) {
    tm_keys_free(&pairs->broken);
    tm_keys_free(&pairs->tight);
}
