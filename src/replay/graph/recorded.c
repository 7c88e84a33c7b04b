#include "recorded.h"

#include <stdlib.h>

#include "base/sorted.h"

TM_ORDER_BY(by_call, tm_asked, call, on_stream);

TM_ORDER_BY(by_time, tm_asked, call_ns, call, on_stream);

static bool add_asked(tm_recorded *r, const tm_timebase *base) {
    const tm_timeline *t = r->input->timeline;
    const tm_wait_attr *v = t->attrs[TM_ATTR_WAIT];
    for (size_t i = 0; i < t->n_attrs[TM_ATTR_WAIT]; i++) {
        const bool blind = v[i].on_stream < 0;
        if (v[i].call == TM_NO_EVENT || (blind && v[i].kind != TM_WAIT_STREAM_WAIT))
            continue;
        tm_asked asked = {.call = v[i].call,
                          .call_ns = tm_graph_input_begin(t, v[i].call, base) + r->input->host_ns,
                          .stream = v[i].kind == TM_WAIT_STREAM_WAIT ? v[i].stream : -1,
                          .on_stream = v[i].on_stream};
        asked.until_ns = v[i].record == TM_NO_EVENT
                             ? asked.call_ns
                             : tm_graph_input_begin(t, v[i].record, base) + r->input->host_ns;
        r->streams = r->streams || (asked.stream >= 0 && !blind);
        if (!tm_vec_append(blind ? &r->blind : &r->asked, &asked, 1))
            return false;
    }
    return true;
}

static bool list_streams(tm_recorded *r) {
    const tm_part_event *events = r->input->events.data;
    size_t n_tracks = r->input->timeline->n_tracks, n = r->input->events.n;
    r->first = calloc(n_tracks + 2, sizeof *r->first);
    r->events = malloc((n + 1) * sizeof *r->events);
    if (!r->first || !r->events)
        return false;
    for (size_t i = 0; i < n; i++)
        r->first[events[i].stream + 2]++;
    for (size_t k = 2; k < n_tracks + 2; k++)
        r->first[k] += r->first[k - 1];
    for (uint32_t i = 0; i < n; i++) {
        r->events[r->first[events[i].stream + 1]++] = i;
        r->graphs = r->graphs || (tm_graph_input_in_graph(r->input, i) &&
                                  events[i - 1].stream != events[i].stream);
    }
    return true;
}

void tm_recorded_free(tm_recorded *recorded) {
    free(recorded->first);
    free(recorded->events);
    tm_vec_free(&recorded->asked);
    tm_vec_free(&recorded->sources);
    tm_vec_free(&recorded->blind);
}

const tm_asked *tm_recorded_of(const tm_recorded *recorded, uint32_t call) {
    const tm_asked *v = recorded->asked.data;
    size_t low = 0, high = recorded->asked.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < recorded->asked.n && v[low].call == call ? &v[low] : NULL;
}

static int64_t launch_ns(const tm_recorded *r, uint32_t event) {
    const tm_part_event *e = (const tm_part_event *)r->input->events.data + event;
    return e->call == TM_NO_PART ? e->begin_ns
                                 : ((const tm_part_call *)r->input->calls.data)[e->call].begin_ns;
}

/* Returns the index in `events` of the first event on a track that was launched at or after @p ns.
 * If there is no such event, returns the index after the track's last event. */
static uint32_t launched_before(const tm_recorded *r, size_t track, int64_t ns) {
    uint32_t low = r->first[track], high = r->first[track + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (launch_ns(r, r->events[middle]) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_stream(const tm_recorded *r, size_t track, int64_t stream) {
    const tm_track *t = &r->input->timeline->tracks[track];
    return t->kind == TM_TRACK_GPU && t->stream == stream;
}

/* Returns the index of the latest event that was launched on a stream before @p ns, or
 * TM_NO_PART. */
static uint32_t recorded_before(const tm_recorded *recorded, int64_t stream, int64_t ns) {
    uint32_t found = TM_NO_PART; /* events are in the order of launches, so the highest index is the
                                    latest launch */
    for (size_t k = 0; k < recorded->input->timeline->n_tracks; k++) {
        if (!is_stream(recorded, k, stream))
            continue;
        uint32_t after = launched_before(recorded, k, ns);
        if (after > recorded->first[k] &&
            (found == TM_NO_PART || recorded->events[after - 1] > found))
            found = recorded->events[after - 1];
    }
    return found;
}

/* A wait of a stream. */
typedef struct stream_wait {
    int64_t stream, ns;
    uint32_t asked; /* index in tm_recorded.asked */
} stream_wait;

TM_ORDER_BY(by_stream, stream_wait, stream, ns, asked);

static bool is_before(const void *element, const void *key) {
    return by_stream(element, key) < 0;
}

/* Adds a source to the last wait in `sources`. Of the sources on a track, the one launched last
 * stays, because it ends last. False when out of memory. */
static bool add_source(tm_recorded *r, tm_asked *asked, uint32_t event) {
    const tm_part_event *events = r->input->events.data;
    uint32_t *sources = r->sources.data;
    for (size_t i = asked->first; i < r->sources.n; i++)
        if (events[sources[i]].stream == events[event].stream) {
            sources[i] = sources[i] > event ? sources[i] : event;
            return true;
        }
    asked->n++;
    return tm_vec_append(&r->sources, &event, 1) != NULL;
}

/* Adds an event, and the last event on each other track that the same call launched: the stream
 * continues when the whole CUDA graph has ended. False when out of memory. */
static bool add_launch(tm_recorded *r, tm_asked *asked, uint32_t event) {
    const tm_part_event *events = r->input->events.data;
    const uint32_t call = events[event].call;
    bool ok = add_source(r, asked, event);
    if (call == TM_NO_PART || ((event == 0 || events[event - 1].call != call) &&
                               (event + 1 == r->input->events.n || events[event + 1].call != call)))
        return ok;
    for (size_t k = 0; k < r->input->timeline->n_tracks && ok; k++) {
        const uint32_t after = launched_before(r, k, launch_ns(r, event) + 1);
        if (after > r->first[k] && events[r->events[after - 1]].call == call)
            ok = add_source(r, asked, r->events[after - 1]);
    }
    return ok;
}

/* Adds the events that must end before an operation on a stream, which is requested at @p ns, can
 * start. These are the latest launch on the stream, and the sources of the stream's waits since. A
 * wait has the sources of the previous one, so that only the last one counts. False when out of
 * memory.
 * @param waits  vector of stream_wait, sorted by stream. Those before @p ns have their sources */
static bool add_until(tm_recorded *r, tm_asked *asked, const tm_vec *waits, int64_t stream,
                      int64_t ns) {
    const stream_wait key = {stream, ns, 0}, *v = waits->data;
    const size_t at = tm_bisect(v, waits->n, sizeof *v, &key, is_before);
    const uint32_t latest = recorded_before(r, stream, ns);
    if (latest != TM_NO_PART && !add_launch(r, asked, latest))
        return false;
    if (at == 0 || v[at - 1].stream != stream ||
        (latest != TM_NO_PART && launch_ns(r, latest) >= v[at - 1].ns))
        return true;
    const tm_asked *wait = (const tm_asked *)r->asked.data + v[at - 1].asked;
    for (uint32_t i = 0; i < wait->n; i++)
        if (!add_source(r, asked, tm_recorded_sources(r, wait)[i]))
            return false;
    return true;
}

/* Finds the sources of all waits, in the order of time. False when out of memory. */
static bool find_sources(tm_recorded *r) {
    tm_asked *v = r->asked.data;
    tm_vec waits = TM_VEC(stream_wait);
    bool ok = true;
    tm_sort(v, r->asked.n, r->asked.size, by_time);
    for (uint32_t i = 0; i < r->asked.n && ok; i++) {
        const stream_wait wait = {v[i].stream, v[i].call_ns, i};
        ok = v[i].stream < 0 || tm_vec_append(&waits, &wait, 1);
    }
    tm_sort(waits.data, waits.n, waits.size, by_stream);
    for (size_t i = 0; i < r->asked.n && ok; i++) {
        v[i].first = (uint32_t)r->sources.n;
        ok = add_until(r, &v[i], &waits, v[i].on_stream, v[i].until_ns) &&
             (v[i].stream < 0 || add_until(r, &v[i], &waits, v[i].stream, v[i].call_ns));
    }
    tm_vec_free(&waits);
    tm_vec_trim(&r->sources);
    tm_sort(v, r->asked.n, r->asked.size, by_call);
    return ok;
}

tm_status tm_recorded_make(const tm_graph_input *input, const tm_timebase *base, tm_recorded *out,
                           tm_error *err) {
    *out = (tm_recorded){.input = input,
                         .asked = TM_VEC(tm_asked),
                         .sources = TM_VEC(uint32_t),
                         .blind = TM_VEC(tm_asked)};
    return add_asked(out, base) && list_streams(out) && find_sources(out) ? TM_OK
                                                                          : tm_fail_memory(err);
}

/* Returns the first event launched on a stream at or after @p ns; TM_NO_PART if there is none. */
static uint32_t recorded_from(const tm_recorded *recorded, int64_t stream, int64_t ns) {
    uint32_t found = TM_NO_PART;
    for (size_t k = 0; k < recorded->input->timeline->n_tracks; k++) {
        if (!is_stream(recorded, k, stream))
            continue;
        uint32_t at = launched_before(recorded, k, ns);
        if (at < recorded->first[k + 1] && recorded->events[at] < found)
            found = recorded->events[at];
    }
    return found;
}

TM_ORDER_BY(by_event, tm_part_wait, event, source);

/* Removes inferred waits. Keeps a wait only if it is inside a CUDA graph, or if its event is the
 * first on the stream after a recorded wait for a stream that the trace does not contain. */
static bool keep_unrecorded(const tm_recorded *r, tm_vec *waits) {
    const tm_asked *v = r->blind.data;
    const tm_part_event *events = r->input->events.data;
    tm_part_wait *w = waits->data;
    bool *wanted = calloc(r->input->events.n + 1, sizeof *wanted);
    size_t kept = 0;
    if (!wanted)
        return false;
    for (size_t i = 0; i < r->blind.n; i++) {
        const uint32_t event = recorded_from(r, v[i].stream, v[i].call_ns);
        if (event != TM_NO_PART)
            wanted[event] = true;
    }
    for (size_t i = 0; i < waits->n; i++)
        if (wanted[w[i].event] || events[w[i].event].call == events[w[i].source].call)
            w[kept++] = w[i];
    waits->n = kept;
    free(wanted);
    return true;
}

/* Adds the waits of the first event on a stream after a recorded wait. Leaves out the stream's own
 * events, which it follows anyway. False when out of memory. */
static bool add_waits(const tm_recorded *r, const tm_asked *asked, tm_vec *waits) {
    const tm_part_event *events = r->input->events.data;
    const uint32_t event = recorded_from(r, asked->stream, asked->call_ns);
    for (uint32_t i = 0; i < asked->n && event != TM_NO_PART; i++) {
        const tm_part_wait wait = {event, tm_recorded_sources(r, asked)[i]};
        if (wait.source < event && !is_stream(r, events[wait.source].stream, asked->stream) &&
            events[wait.source].end_ns <= events[event].begin_ns + TM_PAIR_SLACK_NS &&
            !tm_vec_append(waits, &wait, 1))
            return false;
    }
    return true;
}

tm_status tm_recorded_waits(tm_recorded *recorded, tm_vec *waits, tm_error *err) {
    const tm_asked *v = recorded->asked.data;
    if (waits->n > 0 && !keep_unrecorded(recorded, waits))
        return tm_fail_memory(err);
    recorded->n_guessed = (int64_t)waits->n;
    for (size_t i = 0; i < recorded->asked.n; i++)
        if (v[i].stream >= 0 && !add_waits(recorded, &v[i], waits))
            return tm_fail_memory(err);
    tm_part_wait *w = waits->data;
    size_t kept = 0;
    tm_vec_sort(waits, by_event);
    for (size_t i = 0; i < waits->n; i++)
        if (kept == 0 || by_event(&w[kept - 1], &w[i]) != 0)
            w[kept++] = w[i];
    waits->n = kept;
    return TM_OK;
}
