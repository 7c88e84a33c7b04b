#include "rank_events.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "host_shift.h"

/* Of two calls that start at the same time, the longer one comes first, because it may contain the
 * other. */
static int by_begin(const void *a, const void *b) {
    const tm_part_call *x = a, *y = b;
    int order = tm_order_i64(x->begin_ns, y->begin_ns);
    order = order ? order : tm_order_i64(y->end_ns, x->end_ns);
    return order ? order : tm_order_i64(x->row, y->row);
}

/* An event, and the time by which events are sorted: the start of the event's launch. */
typedef struct launched {
    int64_t call_ns;
    tm_part_event event;
} launched;

/* Order of events whose launches start at the same time. */
static int by_place(const tm_part_event *a, const tm_part_event *b) {
    const int order = tm_order_i64(a->begin_ns, b->begin_ns);
    return order ? order : tm_order_i64(a->row, b->row);
}

static int by_launch(const void *a, const void *b) {
    const launched *x = a, *y = b;
    const int order = tm_order_i64(x->call_ns, y->call_ns);
    return order ? order : by_place(&x->event, &y->event);
}

TM_ORDER_BY(by_ns, tm_part_pause, begin_ns, row);

/* Returns an array with an element for each row: 1 if the row launched a GPU event, else 0. NULL
 * when out of memory. */
static uint32_t *mark_launches(const tm_timeline *timeline) {
    uint32_t *marks = calloc(timeline->n_events + 1, sizeof *marks);
    for (uint32_t row = 0; marks && row < timeline->n_events; row++)
        if (timeline->role[row] != TM_ROLE_NONE && timeline->launch[row] != TM_NO_EVENT)
            marks[timeline->launch[row]] = 1;
    return marks;
}

/* Adds a span for an event unless @p flags is 0. */
static bool add_span(tm_graph_input *d, uint8_t flags, uint32_t thread, uint32_t row,
                     const tm_timebase *base) {
    const tm_timeline *t = d->timeline;
    if (flags == 0)
        return true;
    int64_t begin = tm_graph_input_begin(t, row, base);
    const tm_part_span span = {begin, tm_graph_input_end(t, row, begin, base), row, thread, flags};
    return tm_vec_append(&d->spans, &span, 1) != NULL;
}

static bool add_calls(tm_graph_input *d, tm_call_classes *classes, const uint32_t *marks,
                      const tm_timebase *base) {
    const tm_timeline *t = d->timeline;
    size_t n_launches = 0;
    for (uint32_t row = 0; row < t->n_events; row++)
        n_launches += marks[row];
    if (!tm_vec_reserve(&d->calls, n_launches))
        return false;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const tm_track *track = &t->tracks[k];
        if (track->kind != TM_TRACK_CPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            bool is_call = t->category[row] == TM_CAT_RUNTIME ||
                           t->category[row] == TM_CAT_DRIVER || t->category[row] == TM_CAT_MPI;
            if (t->kind[row] != TM_DURATION)
                continue;
            uint8_t kind = t->launch[row] == row
                               ? TM_CALL_WAITS_OWN /* on a CPU rank, an event is its own launch */
                               : (uint8_t)tm_call_classes_at(classes, t->name[row]);
            uint8_t flags = !is_call ? tm_call_classes_flags(classes, t->name[row])
                            : kind == TM_CALL_MAY_WAIT ? TM_SPAN_MAY_WAIT
                                                       : 0;
            if (!add_span(d, flags, k, row, base))
                return false;
            if (!marks[row] && (!is_call || kind == TM_CALL_MAY_WAIT))
                continue;
            int64_t begin = tm_graph_input_begin(t, row, base);
            const tm_part_pause pause = {begin, row};
            if (kind == TM_CALL_STREAM_WAITS && !tm_vec_append(&d->stream_waits, &pause, 1))
                return false;
            if (!marks[row] && (kind == TM_CALL_OTHER || kind == TM_CALL_STREAM_WAITS))
                continue;
            const tm_part_call call = {.begin_ns = begin,
                                       .end_ns = tm_graph_input_end(t, row, begin, base),
                                       .row = row,
                                       .thread = k,
                                       .launched = TM_NO_PART,
                                       .step = t->step[row],
                                       .kind = kind};
            if (!tm_vec_append(&d->calls, &call, 1))
                return false;
        }
    }
    tm_vec_trim(&d->calls);
    tm_sort(d->calls.data, d->calls.n, d->calls.size, by_begin);
    tm_sort(d->stream_waits.data, d->stream_waits.n, d->stream_waits.size, by_ns);
    return true;
}

/* Returns the index of the call that launched an event; calls.n if no recorded call launched it. */
static uint32_t launched_by(const tm_graph_input *d, const uint32_t *call_of, uint32_t row) {
    uint32_t launch = d->timeline->launch[row];
    uint32_t call = launch == TM_NO_EVENT ? 0 : call_of[launch];
    return call ? call - 1 : (uint32_t)d->calls.n;
}

/* First part of a counting sort of events by call. Returns an array in which element c + 1 is the
 * index of the first event of call c. collect_events advances these elements while it places the
 * events. NULL when out of memory. */
static uint32_t *find_first(const tm_graph_input *d, const uint32_t *call_of) {
    const tm_timeline *t = d->timeline;
    uint32_t *first = calloc(d->calls.n + 3, sizeof *first);
    for (uint32_t row = 0; row < t->n_events && first; row++)
        if (t->role[row] != TM_ROLE_NONE)
            first[launched_by(d, call_of, row) + 2]++;
    for (size_t c = 2; c < d->calls.n + 3 && first; c++)
        first[c] += first[c - 1];
    return first;
}

/* Collects the events, and sorts them by launch. Groups the events by call first, so that nearly
 * all of them are in order before the sort. */
static bool collect_events(const tm_graph_input *d, const uint32_t *call_of,
                           const tm_timebase *base, tm_vec *out) {
    const tm_timeline *t = d->timeline;
    const tm_part_call *calls = d->calls.data;
    uint32_t *first = find_first(d, call_of);
    launched *to = first ? tm_vec_append(out, NULL, first[d->calls.n + 2]) : NULL;
    for (uint32_t k = 0; k < t->n_tracks && to; k++) {
        const tm_track *track = &t->tracks[k];
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (t->role[row] == TM_ROLE_NONE)
                continue;
            int64_t begin = tm_graph_input_begin(t, row, base);
            uint32_t call = launched_by(d, call_of, row);
            to[first[call + 1]++] = (launched){
                .call_ns = call < d->calls.n ? calls[call].begin_ns : begin,
                .event = {.begin_ns = begin,
                          .end_ns = tm_graph_input_end(t, row, begin, base),
                          .row = row,
                          .call = call < d->calls.n ? call : TM_NO_PART,
                          .before = TM_NO_PART,
                          .stream = k,
                          .step = t->step[row]},
            };
        }
    }
    free(first);
    if (to)
        tm_sort(to, out->n, out->size, by_launch);
    return to != NULL;
}

/* Returns whether an event is the last event of its step on its stream. Also returns true if the
 * event still runs when the next event on the stream starts. */
static bool is_last(const tm_part_event *event, const tm_part_event *next) {
    return event->step != next->step || event->end_ns > next->begin_ns;
}

/* Sets `before` and `last` of each event. The previous event on a stream may have been launched
 * later. */
static bool link_streams(tm_graph_input *d) {
    const tm_timeline *t = d->timeline;
    tm_part_event *events = d->events.data;
    uint32_t *index_of = calloc(t->n_events + 1, sizeof *index_of);
    if (!index_of)
        return false;
    for (uint32_t i = 0; i < d->events.n; i++)
        index_of[events[i].row] = i + 1;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const tm_track *track = &t->tracks[k];
        uint32_t before = TM_NO_PART;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (index_of[row] == 0)
                continue;
            uint32_t i = index_of[row] - 1;
            events[i].before = before;
            events[i].last = true;
            if (before != TM_NO_PART)
                events[before].last = is_last(&events[before], &events[i]);
            before = i;
        }
    }
    free(index_of);
    return true;
}

typedef struct place {
    uint32_t name;
    int32_t step;
} place;

/* Returns the step in which an event or call is counted. */
static int32_t step_of(const tm_graph_input *d, int32_t step) {
    return d->stepless ? TM_NO_STEP : step;
}

static bool count_places(tm_graph_input *d) {
    tm_keys keys = TM_KEYS(place);
    tm_vec counts = TM_VEC(uint32_t);
    tm_part_event *events = d->events.data;
    tm_part_call *calls = d->calls.data;
    bool ok = true;
    for (size_t i = 0; i < d->events.n && ok; i++) {
        const place key = {d->timeline->name[events[i].row], step_of(d, events[i].step)};
        uint32_t *n = tm_keys_value(&keys, &counts, &key);
        ok = n != NULL;
        if (n)
            events[i].nth = (*n)++;
    }
    for (size_t i = 0; i < d->calls.n && ok; i++) {
        const place key = {d->timeline->name[calls[i].row], step_of(d, calls[i].step)};
        uint32_t *n = calls[i].launched == TM_NO_PART ? tm_keys_value(&keys, &counts, &key) : NULL;
        ok = n || calls[i].launched != TM_NO_PART;
        if (n)
            calls[i].nth = (*n)++;
    }
    const place *places = keys.keys.data;
    tm_part_count *out = ok ? tm_vec_append(&d->counts, NULL, counts.n) : NULL;
    for (size_t i = 0; i < counts.n && out; i++)
        out[i] =
            (tm_part_count){places[i].name, places[i].step, ((const uint32_t *)counts.data)[i]};
    tm_keys_free(&keys);
    tm_vec_free(&counts);
    return out != NULL || (ok && counts.n == 0);
}

bool tm_graph_input_ignore_steps(tm_graph_input *input) {
    input->stepless = true;
    input->counts.n = 0;
    return count_places(input);
}

static bool add_events(tm_graph_input *d, uint32_t *marks, const tm_timebase *base) {
    tm_vec sorted = TM_VEC(launched);
    tm_part_call *calls = d->calls.data;
    for (uint32_t c = 0; c < d->calls.n; c++)
        marks[calls[c].row] = c + 1;
    bool ok = collect_events(d, marks, base, &sorted) &&
              tm_vec_append(&d->events, NULL, sorted.n) != NULL;
    const launched *from = sorted.data;
    tm_part_event *events = d->events.data;
    for (uint32_t i = 0; i < sorted.n && ok; i++) {
        events[i] = from[i].event;
        if (events[i].call != TM_NO_PART && calls[events[i].call].launched == TM_NO_PART)
            calls[events[i].call].launched = i;
    }
    tm_vec_free(&sorted);
    return ok && link_streams(d) && count_places(d);
}

/* Returns whether the trace records the host's waits for the GPU, i.e. whether there is a waiting
 * call after the first launch. (An earlier call, such as the cudaFree that creates a context, had
 * nothing to wait for.) */
static bool has_syncs(const tm_graph_input *d) {
    const tm_part_event *first = d->events.data;
    const tm_part_call *calls = d->calls.data;
    const tm_part_span *spans = d->spans.data;
    size_t c = d->calls.n;
    if (d->events.n == 0)
        return false;
    const int64_t launch_ns =
        first->call == TM_NO_PART ? first->begin_ns : calls[first->call].begin_ns;
    for (size_t i = 0; i < d->spans.n; i++)
        if (spans[i].flags == TM_SPAN_MAY_WAIT && spans[i].begin_ns >= launch_ns)
            return true;
    while (c > 0 && calls[c - 1].begin_ns >= launch_ns &&
           (calls[c - 1].kind == TM_CALL_OTHER || calls[c - 1].kind == TM_CALL_STREAM_WAITS ||
            d->timeline->launch[calls[c - 1].row] == calls[c - 1].row))
        c--;
    return c > 0 && calls[c - 1].begin_ns >= launch_ns;
}

uint32_t tm_warm_up_after(const tm_graph_input *input) {
    const tm_part_event *events = input->events.data;
    uint32_t found = TM_NO_PART;
    for (uint32_t i = 0; i < input->events.n; i++)
        if (events[i].step != TM_NO_STEP &&
            (found == TM_NO_PART || events[i].step < events[found].step))
            found = i;
    return found;
}

bool tm_warm_up_has(const tm_graph_input *input, const tm_part_event *event) {
    const tm_timeline *t = input->timeline;
    uint32_t launch = t->launch[event->row];
    return event->step == TM_NO_STEP && t->n_steps > 0 &&
           t->begin_ns[launch == TM_NO_EVENT ? event->row : launch] < t->steps[0].begin_ns;
}

static tm_warm_up find_warm_up(const tm_graph_input *input) {
    const tm_timeline *t = input->timeline;
    const tm_part_event *events = input->events.data;
    uint32_t after = tm_warm_up_after(input);
    tm_warm_up out = {.step = INT64_MAX};
    if (after == TM_NO_PART)
        return out;
    out.step = t->steps[events[after].step].number;
    for (size_t i = 0; i < input->events.n; i++) {
        if (!tm_warm_up_has(input, &events[i]))
            continue;
        out.any = true;
        out.joined = out.joined || t->begin_ns[events[i].row] + t->duration_ns[events[i].row] >
                                       t->steps[0].begin_ns;
    }
    return out;
}

static void set_before(tm_graph_input *d, tm_warm_up before, const tm_timebase *base) {
    d->before = before;
    d->of_step = before.step == base->step;
}

/* Shifts the times of the host to the clock of the device. */
static void shift_host(tm_graph_input *d) {
    tm_part_call *calls = d->calls.data;
    tm_part_pause *pauses = d->stream_waits.data;
    tm_part_span *spans = d->spans.data;
    d->host_ns = tm_host_shift(d->timeline, d->classes);
    for (size_t i = 0; i < d->calls.n; i++) {
        calls[i].begin_ns += d->host_ns;
        calls[i].end_ns += d->host_ns;
    }
    for (size_t i = 0; i < d->stream_waits.n; i++)
        pauses[i].begin_ns += d->host_ns;
    for (size_t i = 0; i < d->spans.n; i++) {
        spans[i].begin_ns += d->host_ns;
        spans[i].end_ns += d->host_ns;
    }
}

tm_status tm_graph_input_make(const tm_timeline *timeline, tm_call_classes *classes,
                              const tm_timebase *base, tm_graph_input *out, tm_error *err) {
    *out = (tm_graph_input){.timeline = timeline,
                            .classes = classes,
                            .stage = -1,
                            .events = TM_VEC(tm_part_event),
                            .calls = TM_VEC(tm_part_call),
                            .stream_waits = TM_VEC(tm_part_pause),
                            .spans = TM_VEC(tm_part_span),
                            .counts = TM_VEC(tm_part_count)};
    uint32_t *marks = mark_launches(timeline);
    bool ok = marks && add_calls(out, classes, marks, base);
    if (ok)
        shift_host(out);
    ok = ok && add_events(out, marks, base);
    free(marks);
    out->syncs = has_syncs(out);
    set_before(out, find_warm_up(out), base);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sets the times of all events, calls, pauses and spans from input->timeline. */
static void take_times(tm_graph_input *d, const tm_timebase *base) {
    const tm_timeline *t = d->timeline;
    tm_part_event *events = d->events.data;
    tm_part_call *calls = d->calls.data;
    tm_part_pause *pauses = d->stream_waits.data;
    tm_part_span *spans = d->spans.data;
    for (size_t i = 0; i < d->events.n; i++) {
        events[i].begin_ns = tm_graph_input_begin(t, events[i].row, base);
        events[i].end_ns = tm_graph_input_end(t, events[i].row, events[i].begin_ns, base);
    }
    for (size_t i = 0; i < d->calls.n; i++) {
        calls[i].begin_ns = tm_graph_input_begin(t, calls[i].row, base);
        calls[i].end_ns = tm_graph_input_end(t, calls[i].row, calls[i].begin_ns, base);
    }
    for (size_t i = 0; i < d->stream_waits.n; i++)
        pauses[i].begin_ns = tm_graph_input_begin(t, pauses[i].row, base);
    for (size_t i = 0; i < d->spans.n; i++) {
        spans[i].begin_ns = tm_graph_input_begin(t, spans[i].row, base);
        spans[i].end_ns = tm_graph_input_end(t, spans[i].row, spans[i].begin_ns, base);
    }
    shift_host(d);
}

/* Returns whether events, calls and pauses are still in order, and `last` of all events is still
 * right. */
static bool is_in_order(const tm_graph_input *d) {
    const tm_part_event *events = d->events.data;
    const tm_part_call *calls = d->calls.data;
    const tm_part_pause *pauses = d->stream_waits.data;
    bool same = true;
    int64_t last = INT64_MIN; /* time at which the launch of the previous event started */
    for (size_t i = 1; i < d->calls.n && same; i++)
        same = by_begin(&calls[i - 1], &calls[i]) < 0;
    for (size_t i = 1; i < d->stream_waits.n && same; i++)
        same = by_ns(&pauses[i - 1], &pauses[i]) <= 0;
    for (size_t i = 0; i < d->events.n && same; i++) {
        const tm_part_event *e = &events[i];
        const int64_t launch = e->call == TM_NO_PART ? e->begin_ns : calls[e->call].begin_ns;
        same = i == 0 || last < launch || (last == launch && by_place(e - 1, e) < 0);
        if (e->before != TM_NO_PART && same)
            same = events[e->before].last == is_last(&events[e->before], e);
        last = launch;
    }
    return same;
}

void tm_graph_input_take_again(tm_graph_input *input, const tm_timeline *timeline,
                               const tm_timebase *base, tm_warm_up before) {
    input->timeline = timeline;
    take_times(input, base);
    input->syncs = has_syncs(input);
    set_before(input, before, base);
}

bool tm_graph_input_take(tm_graph_input *input, const tm_timeline *timeline,
                         const tm_timebase *base) {
    input->timeline = timeline;
    take_times(input, base);
    input->syncs = has_syncs(input);
    set_before(input, find_warm_up(input), base);
    return is_in_order(input);
}

void tm_graph_input_free(tm_graph_input *input) {
    TM_VECS_FREE(&input->events, &input->calls, &input->stream_waits, &input->spans,
                 &input->counts);
}

uint64_t tm_graph_input_position(const tm_timeline *timeline, uint32_t row, uint32_t nth) {
    const uint64_t key = (uint64_t)timeline->name[row] << 32 | nth;
    return tm_hash_words(0, &key, 1);
}
