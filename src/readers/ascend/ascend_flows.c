#include "ascend_flows.h"

#include <stdlib.h>
#include <string.h>

#include "ascend_kinds.h"
#include "base/hash.h"
#include "base/reach.h"
#include "base/sorted.h"

/* One end of an arrow between two events. */
typedef struct tip {
    int64_t ns;
    uint64_t id[2]; /* made by id_of */
    uint32_t track;
} tip;

/* An event that put an item into the queue between two threads, or took it out. */
typedef struct passing {
    int64_t id;
    uint32_t event;
} passing;

typedef struct place {
    uint32_t track;
    uint32_t event;
    int64_t begin_ns, end_ns;
} place;

/* A device event, and the place at which the arrow to it starts. */
typedef struct launched {
    uint32_t event;
    uint32_t track;
    uint32_t call; /* index in `calls` of the launching call */
    /* Index in `calls` of the innermost recorded call that contains the start of the arrow.
     * TM_NO_EVENT if there is none. */
    uint32_t holder;
    int64_t ns;
    bool known;
} launched;

typedef struct linker {
    const tm_ascend_flows *flows;
    tm_trace *trace;
    tm_vec calls;  /* vector of place: sorted by track and start, outer calls first; inserted calls
                      come after these */
    tm_reach ends; /* ends of the recorded calls */
    tm_reach takers; /* ends of the recorded calls that dequeue */
    tm_vec devices;  /* vector of place: sorted by track and start */
    tm_vec launched; /* vector of launched: one for each element of `devices` */
    tm_vec starts;   /* vector of tip: starts of arrows, sorted by id, then by time */
} linker;

void tm_ascend_flows_init(tm_ascend_flows *flows) {
    *flows = (tm_ascend_flows){.queued = TM_VEC(passing), .taken = TM_VEC(passing)};
    for (int i = 0; i < TM_ASCEND_N_ARROWS; i++)
        flows->starts[i] = flows->ends[i] = TM_VEC(tip);
}

void tm_ascend_flows_free(tm_ascend_flows *flows) {
    tm_vec_free(&flows->queued);
    tm_vec_free(&flows->taken);
    for (int i = 0; i < TM_ASCEND_N_ARROWS; i++) {
        tm_vec_free(&flows->starts[i]);
        tm_vec_free(&flows->ends[i]);
    }
}

/* Splits an id, which may exceed 64 bits, into its last 18 digits and the digits before them.
 * Longer ids and ids that are not numbers are hashed. */
static void id_of(const tm_json_text *text, uint64_t id[2]) {
    enum { HALF = 18 };
    bool digits = text->size > 0 && text->size <= (size_t)2 * HALF && *text->bytes != '0';
    id[0] = id[1] = 0;
    for (size_t i = 0; i < text->size && digits; i++) {
        uint64_t *half = &id[text->size - i <= HALF];
        unsigned digit = (unsigned)(text->bytes[i] - '0');
        digits = digit < 10;
        *half = *half * 10 + digit;
    }
    if (digits)
        return;
    id[0] = UINT64_MAX; /* larger than any number of 18 digits */
    id[1] = tm_hash_mixed(0, text->bytes, text->size);
}

static bool add(tm_ascend_flows *flows, tm_ascend_arrow arrow, bool start, const tip *added) {
    return tm_vec_append(start ? &flows->starts[arrow] : &flows->ends[arrow], added, 1) != NULL;
}

bool tm_ascend_flows_add(tm_ascend_flows *flows, tm_ascend_arrow arrow, bool start,
                         const tm_json_text *id, uint32_t track, int64_t ns) {
    tip added = {.ns = ns, .track = track};
    id_of(id, added.id);
    return add(flows, arrow, start, &added);
}

bool tm_ascend_flows_connect(tm_ascend_flows *flows, bool start, int64_t id, uint32_t track,
                             int64_t ns) {
    const tip added = {.ns = ns, .id = {0, (uint64_t)id}, .track = track};
    return add(flows, TM_ASCEND_TO_DEVICE, start, &added);
}

bool tm_ascend_flows_queue(tm_ascend_flows *flows, bool taken, int64_t id, uint32_t event) {
    const passing added = {id, event};
    return tm_vec_append(taken ? &flows->taken : &flows->queued, &added, 1) != NULL;
}

TM_ORDER_BY(by_id, tip, id[0], id[1], ns, track);

static int by_place(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = tm_order_u64(x->track, y->track);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    order = order ? order : tm_order_i64(y->end_ns, x->end_ns);
    return order ? order : tm_order_u64(x->event, y->event);
}

TM_ORDER_BY(by_passing, passing, id, event);

static void sort(tm_vec *vec, int (*order)(const void *, const void *)) {
    const char *v = vec->data;
    for (size_t i = 1; i < vec->n; i++)
        if (order(v + (i - 1) * vec->size, v + i * vec->size) > 0) { /* usually sorted already */
            qsort(vec->data, vec->n, vec->size, order);
            return;
        }
}

static bool copy_sorted(const tm_vec *from, tm_vec *to, int (*order)(const void *, const void *)) {
    to->n = 0;
    bool ok = from->n == 0 || tm_vec_append(to, from->data, from->n);
    sort(to, order);
    return ok;
}

static bool list_places(linker *l) {
    const tm_raw_event *events = l->trace->events.data;
    for (size_t i = 0; i < l->trace->events.n; i++) {
        const tm_raw_event *e = &events[i];
        bool call = e->category == TM_CAT_RUNTIME;
        bool device = e->category == TM_CAT_KERNEL || e->category == TM_CAT_MEMCPY;
        const place p = {e->track, (uint32_t)i, e->begin_ns, e->begin_ns + e->duration_ns};
        if ((call || device) && !tm_vec_append(call ? &l->calls : &l->devices, &p, 1))
            return false;
    }
    sort(&l->calls, by_place);
    sort(&l->devices, by_place);
    return tm_vec_append(&l->launched, NULL, l->devices.n) != NULL || l->devices.n == 0;
}

static bool stands_before(const void *element, const void *key) {
    const place *x = element, *y = key;
    return x->track < y->track || (x->track == y->track && x->begin_ns < y->begin_ns);
}

static bool begins_by(const void *element, const void *key) {
    const place *x = element, *y = key;
    return x->track < y->track || (x->track == y->track && x->begin_ns <= y->begin_ns);
}

static bool has_lower_id(const void *element, const void *key) {
    const uint64_t *a = ((const tip *)element)->id, *b = key;
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

/* Returns the index of the innermost call on a track that contains a time. Only calls before index
 * `end` count. Returns TM_NO_EVENT if there is none. */
static uint32_t call_holding(const linker *l, const tm_reach *of, size_t end, uint32_t track,
                             int64_t ns) {
    const place *v = l->calls.data;
    const size_t i = tm_reach_before(of, end, ns);
    return i != TM_REACH_NONE && v[i].track == track ? (uint32_t)i : TM_NO_EVENT;
}

/*
 * Fills `ends` with the ends of all calls, and `takers` with the ends of calls that dequeue. The
 * calls must be sorted.
 * @param taken_of  [events] nonzero for calls that dequeue
 */
static bool find_ends(linker *l, const uint32_t *taken_of) {
    const place *v = l->calls.data;
    if (!tm_reach_init(&l->ends, l->calls.n) || !tm_reach_init(&l->takers, l->calls.n))
        return false;
    for (size_t i = 0; i < l->calls.n; i++) {
        tm_reach_put(&l->ends, i, v[i].end_ns);
        if (taken_of[v[i].event] > 0)
            tm_reach_put(&l->takers, i, v[i].end_ns);
    }
    tm_reach_ready(&l->ends);
    tm_reach_ready(&l->takers);
    return true;
}

/* Finds the start of the arrow for each device event at which an arrow of this kind ends. Skips the
 * event if an arrow of another kind has already given the start. */
static bool follow(linker *l, tm_ascend_arrow arrow) {
    if (!copy_sorted(&l->flows->starts[arrow], &l->starts, by_id))
        return false;
    const tip *starts = l->starts.data, *ends = l->flows->ends[arrow].data;
    const place *devices = l->devices.data;
    launched *all = l->launched.data;
    for (size_t i = 0; i < l->flows->ends[arrow].n; i++) {
        size_t s = tm_bisect(starts, l->starts.n, sizeof *starts, ends[i].id, has_lower_id);
        if (s == l->starts.n || memcmp(starts[s].id, ends[i].id, sizeof ends[i].id) != 0)
            continue;
        const place key = {.track = ends[i].track, .begin_ns = ends[i].ns};
        size_t d = tm_bisect(devices, l->devices.n, sizeof *devices, &key, stands_before);
        /* All events with the same start are marked together, so it is enough to test the first
         * one. */
        for (; d < l->devices.n && devices[d].track == key.track &&
               devices[d].begin_ns == key.begin_ns && !all[d].known;
             d++)
            all[d] = (launched){.event = devices[d].event,
                                .track = starts[s].track,
                                .ns = starts[s].ns,
                                .known = true};
    }
    return true;
}

/* Adds a call of zero length for a call that was not recorded. Only its thread and time are
 * known. */
static bool put_call(linker *l, launched *to, uint32_t name) {
    const tm_raw_event raw = {.begin_ns = to->ns,
                              .name = name,
                              .track = to->track,
                              .category = TM_CAT_RUNTIME,
                              .kind = TM_DURATION,
                              .launch = TM_NO_EVENT};
    const place put = {raw.track, (uint32_t)l->trace->events.n, raw.begin_ns, raw.begin_ns};
    to->call = (uint32_t)l->calls.n;
    return l->trace->events.n < TM_NO_EVENT - 1 && tm_vec_append(&l->trace->events, &raw, 1) &&
           tm_vec_append(&l->calls, &put, 1);
}

/* Finds the launching calls. If the arrow starts in a call that dequeues, a call of zero length is
 * inserted at the arrow's start, because a dequeuing call does much more than launch.
 * @param taken_of  [events] nonzero for calls that dequeue */
static bool find_calls(linker *l, tm_names *names, const uint32_t *taken_of) {
    const uint32_t name = tm_names_intern_string(names, "launch (its call is not recorded)");
    /* Only these calls are sorted. Inserted calls come after them. */
    const size_t n_recorded = l->calls.n;
    launched *all = l->launched.data;
    bool ok = name != TM_NAME_FAILED;
    for (size_t d = 0; d < l->launched.n && ok; d++) {
        if (!all[d].known)
            continue;
        const place *v = l->calls.data, key = {.track = all[d].track, .begin_ns = all[d].ns};
        size_t i = tm_bisect(v, n_recorded, sizeof key, &key, begins_by);
        all[d].holder = all[d].call = call_holding(l, &l->ends, i, key.track, key.begin_ns);
        if (all[d].call == TM_NO_EVENT || taken_of[v[all[d].call].event] > 0)
            ok = put_call(l, &all[d], name);
    }
    return ok;
}

/* Numbers the launching calls from 1 in the order of their rows, because the profiler's own ids
 * differ by version. Returns false if out of memory. */
static bool number_calls(linker *l, uint32_t *number) {
    const launched *all = l->launched.data;
    const place *calls = l->calls.data;
    uint32_t n = 0;
    for (size_t d = 0; d < l->launched.n; d++)
        if (all[d].known)
            number[calls[all[d].call].event] = 1;
    for (uint32_t row = 0; row < l->trace->events.n; row++) {
        if (number[row] == 0)
            continue;
        number[row] = ++n;
        const tm_launch_attr attr = {.correlation = n, .event = row};
        if (!tm_vec_append(&l->trace->attrs[TM_ATTR_LAUNCH], &attr, 1))
            return false;
    }
    return true;
}

/*
 * Sets the correlation ids of device events to the numbers of their calls.
 * @param call_of  [events] for a device event: 1 + the row of its call, or 0 if the call is unknown
 */
static void set_correlations(tm_trace *trace, const uint32_t *call_of, const uint32_t *number) {
    tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_KERNEL].n; i++)
        if (call_of[kernels[i].event] > 0)
            kernels[i].correlation = number[call_of[kernels[i].event] - 1];
    tm_copy_attr *copies = trace->attrs[TM_ATTR_COPY].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_COPY].n; i++)
        if (call_of[copies[i].event] > 0)
            copies[i].correlation = number[call_of[copies[i].event] - 1];
}

/* Returns the event that enqueued the item that `taken` dequeued. If several events enqueued an
 * item with this id, returns the last one before `taken`. */
static uint32_t queued_by(const linker *l, const tm_vec *queued, const passing *taken) {
    const tm_raw_event *events = l->trace->events.data;
    const passing *v = queued->data;
    uint32_t found = TM_NO_EVENT;
    for (size_t i = TM_FIRST_FROM(passing, id, v, queued->n, taken->id);
         i < queued->n && v[i].id == taken->id; i++)
        if (events[v[i].event].begin_ns <= events[taken->event].begin_ns)
            found = v[i].event;
    return found;
}

/* Finds the innermost dequeuing call around a launch. Returns 1 + its index in `taken`, or 0 if
 * there is none. */
static uint32_t taken_around(const linker *l, const launched *from, const uint32_t *taken_of) {
    const place *v = l->calls.data;
    if (from->holder == TM_NO_EVENT)
        return 0;
    const uint32_t i = call_holding(l, &l->takers, (size_t)from->holder + 1, from->track, from->ns);
    return i != TM_NO_EVENT ? taken_of[v[i].event] : 0;
}

/* Removes the number from a kernel's name. */
static bool name_kernel(linker *l, tm_names *names, uint32_t event, const passing *taken) {
    static const char start[] = "Dequeue@";
    char plain[256];
    tm_raw_event *events = l->trace->events.data;
    const char *op = taken ? tm_names_text(names, events[taken->event].name).bytes : "";
    op = strncmp(op, start, sizeof start - 1) == 0 ? op + sizeof start - 1 : "";
    if (events[event].category == TM_CAT_KERNEL &&
        tm_ascend_plain_name(tm_names_text(names, events[event].name).bytes, op, plain,
                             sizeof plain))
        events[event].name = tm_names_intern_string(names, plain);
    return events[event].name != TM_NAME_FAILED;
}

static bool link_queue(linker *l, tm_names *names, const uint32_t *taken_of) {
    const passing *taken = l->flows->taken.data;
    const launched *all = l->launched.data;
    const place *calls = l->calls.data, *devices = l->devices.data;
    tm_vec queued = TM_VEC(passing);
    bool ok = copy_sorted(&l->flows->queued, &queued, by_passing);
    for (size_t d = 0; d < l->launched.n && ok; d++) {
        uint32_t t = all[d].known ? taken_around(l, &all[d], taken_of) : 0;
        tm_handover handover = {.by = t > 0 ? queued_by(l, &queued, &taken[t - 1]) : TM_NO_EVENT};
        ok = name_kernel(l, names, devices[d].event, t > 0 ? &taken[t - 1] : NULL);
        if (handover.by == TM_NO_EVENT)
            continue;
        handover.call = calls[all[d].call].event;
        ok = ok && tm_vec_append(&l->trace->handovers, &handover, 1);
    }
    tm_vec_free(&queued);
    return ok;
}

/* Returns a zeroed array with an element for each event and for each call that may be inserted. */
static uint32_t *room_of(const linker *l) {
    return calloc(l->trace->events.n + l->launched.n + 1, sizeof(uint32_t));
}

static bool set_launches(linker *l, tm_names *names) {
    const passing *taken = l->flows->taken.data;
    uint32_t *call_of = room_of(l), *number = room_of(l), *taken_of = room_of(l);
    bool ok = call_of && number && taken_of;
    for (size_t i = 0; i < l->flows->taken.n && ok; i++)
        taken_of[taken[i].event] = (uint32_t)i + 1;
    ok = ok && find_ends(l, taken_of) && find_calls(l, names, taken_of) && number_calls(l, number);
    const launched *all = l->launched.data;
    const place *calls = l->calls.data;
    for (size_t d = 0; d < l->launched.n && ok; d++)
        if (all[d].known)
            call_of[all[d].event] = calls[all[d].call].event + 1;
    if (ok)
        set_correlations(l->trace, call_of, number);
    ok = ok && link_queue(l, names, taken_of);
    free(call_of);
    free(number);
    free(taken_of);
    return ok;
}

tm_status tm_ascend_flows_link(const tm_ascend_flows *flows, tm_trace *trace, tm_names *names,
                               tm_error *err) {
    linker l = {.flows = flows,
                .trace = trace,
                .calls = TM_VEC(place),
                .devices = TM_VEC(place),
                .launched = TM_VEC(launched),
                .starts = TM_VEC(tip)};
    bool ok = list_places(&l);
    if (ok && l.launched.n > 0)
        memset(l.launched.data, 0, l.launched.n * l.launched.size);
    for (int arrow = 0; arrow < TM_ASCEND_N_ARROWS && ok; arrow++)
        ok = follow(&l, (tm_ascend_arrow)arrow);
    ok = ok && set_launches(&l, names);
    TM_VECS_FREE(&l.calls, &l.devices, &l.launched, &l.starts);
    tm_reach_free(&l.ends);
    tm_reach_free(&l.takers);
    return ok ? TM_OK : tm_fail_memory(err);
}
