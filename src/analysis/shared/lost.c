#include "lost.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"
#include "busy.h"
#include "call_kinds.h"

/* Launches in the first or last 1 / EDGE_PART of a recording may lack kernels, because profilers do
 * not start and stop on host and GPU at the same time. A number of launches is small if it is under
 * 1 / LITTLE_PART of all launches. */
enum { EDGE_PART = 10, LITTLE_PART = 100 };

/* Maximum time from the launch of a graph to its start, and maximum pause within a graph [ns]. */
static const int64_t QUIET_NS = 200000;

/* Special values of a launch's device. UNSEEN_DEVICE: no GPU event was recorded for any launch of
 * the thread. */
static const int32_t UNSEEN_DEVICE = -3, ANY_DEVICE = -2, UNKNOWN_DEVICE = -1;

/* A call that launches work, copies, or waits for the GPU. */
typedef struct made {
    int64_t begin_ns, end_ns;
    int64_t ran_ns; /* start of the first event that the call launched; INT64_MAX: no event was
                       recorded */
    uint32_t row;
    int32_t device; /* device on which the call's work runs */
    uint8_t kind;   /* tm_call_kind */
    bool part;      /* whether events of the call's work were recorded, but no compute kernel */
    bool lost, edge, between;
} made;

/* A special value in scan.ran: only a part of the graph that the call launched was recorded. */
static const uint32_t PART_ALONE = TM_NO_EVENT - 1;

/* A GPU event of a graph, other than a compute kernel. */
typedef struct reported {
    uint32_t call, row;
} reported;

static bool is_launch(const made *call) {
    return call->kind == TM_CALL_KIND_LAUNCH || call->kind == TM_CALL_KIND_GRAPH;
}

static bool has_run(const made *call) {
    return call->ran_ns < INT64_MAX;
}

/* The facts about a rank that are known so far. */
typedef struct scan {
    const tm_rank_view *view;
    /* [n_events] for the row of a call: row of the first event that it launched, TM_NO_EVENT or
     * PART_ALONE */
    uint32_t *ran;
    uint8_t *step_kernels; /* [n_steps] whether a recorded kernel belongs to the step */
    tm_vec calls;          /* vector of made, ascending by begin_ns */
    tm_vec unlinked;       /* vector of int64_t: starts of kernels without a known launch */
    tm_vec others;         /* vector of reported */
} scan;

static void set_run(scan *s, uint32_t call, uint32_t row) {
    const int64_t *begin_ns = s->view->timeline->begin_ns;
    if (s->ran[call] == TM_NO_EVENT || begin_ns[row] < begin_ns[s->ran[call]])
        s->ran[call] = row;
}

/* Notes that a call launched an event. If only copies of a graph were recorded, its kernels are
 * missing, because no graph has only copies. But a graph may have only communication. */
static bool note_run(scan *s, uint32_t call, uint32_t row) {
    const tm_timeline *timeline = s->view->timeline;
    const reported other = {call, row};
    if (call == TM_NO_EVENT)
        return true;
    if (timeline->role[row] == TM_ROLE_COMPUTE ||
        tm_call_kinds_at(s->view->call_kinds, timeline->name[call]) != TM_CALL_KIND_GRAPH)
        set_run(s, call, row);
    else
        return tm_vec_append(&s->others, &other, 1) != NULL;
    return true;
}

/* Returns the times in which a device was busy, or any device if the devices are not known
 * separately. */
static const tm_intervals *busy_of(const tm_rank_view *view, int32_t device) {
    const tm_device_busy *v = view->devices->data;
    for (size_t i = 0; i < view->devices->n; i++)
        if (v[i].device == device)
            return &v[i].busy.busy;
    return &view->busy->busy;
}

static int32_t device_of(const tm_timeline *timeline, uint32_t row) {
    return tm_timeline_track(timeline, row)->device;
}

/* Returns whether a graph has compute kernels that were not recorded: only copies of the graph were
 * recorded, or the device was mostly idle from the launch of the graph to the end of its
 * communication.
 * @param v  [n] recorded events of the graph */
static bool lacks_computation(const scan *s, const reported *v, size_t n) {
    const tm_timeline *timeline = s->view->timeline;
    const uint32_t call = v->call;
    int64_t from_ns = timeline->begin_ns[call] + timeline->duration_ns[call], end_ns = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        if (timeline->role[v[i].row] != TM_ROLE_COMMUNICATION)
            continue;
        const int64_t begin_ns = timeline->begin_ns[v[i].row];
        const int64_t ns = begin_ns + timeline->duration_ns[v[i].row];
        end_ns = ns > end_ns ? ns : end_ns;
        from_ns = begin_ns < from_ns ? begin_ns : from_ns;
    }
    if (end_ns == INT64_MIN)
        return true;
    const tm_intervals *busy = busy_of(s->view, device_of(timeline, v->row));
    const int64_t quiet_ns = end_ns - from_ns - tm_intervals_length_in(busy, from_ns, end_ns);
    return quiet_ns > QUIET_NS && 2 * quiet_ns > end_ns - from_ns;
}

TM_ORDER_BY(by_call, reported, call, row);

/* Decides which graphs were completely recorded. */
static void settle_graphs(scan *s) {
    const uint8_t *role = s->view->timeline->role;
    const reported *v = s->others.data;
    tm_vec_sort(&s->others, by_call);
    for (size_t i = 0, n; i < s->others.n; i += n) {
        const uint32_t call = v[i].call;
        for (n = 1; i + n < s->others.n && v[i + n].call == call;)
            n++;
        const bool lacks = s->ran[call] == TM_NO_EVENT && lacks_computation(s, v + i, n);
        for (size_t k = i; k < i + n && !lacks; k++)
            if (role[v[k].row] == TM_ROLE_COMMUNICATION)
                set_run(s, call, v[k].row);
        s->ran[call] = lacks ? PART_ALONE : s->ran[call];
    }
}

/* Notes which calls launched the recorded events. If one call enqueued an event and another
 * launched it, both count. */
static bool look_at_device(scan *s) {
    const tm_timeline *timeline = s->view->timeline;
    for (size_t t = 0; t < timeline->n_tracks && timeline->tracks[t].kind == TM_TRACK_GPU; t++) {
        const tm_track *track = &timeline->tracks[t];
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->role[row] == TM_ROLE_NONE)
                continue;
            if (!note_run(s, timeline->launch[row], row) ||
                !note_run(s, tm_timeline_asked(timeline, row), row))
                return false;
            if (timeline->role[row] == TM_ROLE_MEMORY)
                continue;
            if (timeline->step[row] != TM_NO_STEP)
                s->step_kernels[timeline->step[row]] = 1;
            if (timeline->launch[row] == TM_NO_EVENT &&
                !tm_vec_append(&s->unlinked, &timeline->begin_ns[row], 1))
                return false;
        }
    }
    return true;
}

/* Assigns a device to each launch without recorded events: the device of the launches before and
 * after it on its thread, if that is the same. */
static void place(made *v, size_t n) {
    int32_t before = UNKNOWN_DEVICE, after = UNKNOWN_DEVICE;
    for (size_t i = 0; i < n; i++) {
        if (is_launch(&v[i]) && !has_run(&v[i]))
            v[i].device = before;
        else if (is_launch(&v[i]))
            before = v[i].device;
    }
    if (before == UNKNOWN_DEVICE)
        after = UNSEEN_DEVICE;
    for (size_t i = n; i-- > 0;) {
        if (!is_launch(&v[i]))
            continue;
        if (has_run(&v[i]))
            after = v[i].device;
        else if (v[i].device == UNKNOWN_DEVICE)
            v[i].device = after;
        else if (after != UNKNOWN_DEVICE && after != v[i].device)
            v[i].device = UNKNOWN_DEVICE;
    }
}

/* Collects the calls of a thread. Skips launches within launches (of the driver within the
 * runtime). */
static bool look_at_thread(scan *s, const tm_track *track) {
    const tm_timeline *timeline = s->view->timeline;
    const size_t first = s->calls.n;
    /* stream of the last launch; the next launch usually uses the same one */
    const tm_track *stream = NULL;
    bool capturing = false;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        if (timeline->kind[row] != TM_DURATION ||
            (timeline->category[row] != TM_CAT_RUNTIME && timeline->category[row] != TM_CAT_DRIVER))
            continue;
        tm_call_kind kind = tm_call_kinds_at(s->view->call_kinds, timeline->name[row]);
        const uint32_t ran = s->ran[row];
        const bool known = ran != TM_NO_EVENT && ran != PART_ALONE;
        if (known && (!stream || ran < stream->first || ran - stream->first >= stream->count))
            stream = tm_timeline_track(timeline, ran);
        made call = {.begin_ns = timeline->begin_ns[row],
                     .end_ns = timeline->begin_ns[row] + timeline->duration_ns[row],
                     .ran_ns = known ? timeline->begin_ns[ran] : INT64_MAX,
                     .row = row,
                     .device = known ? stream->device : UNKNOWN_DEVICE,
                     .part = ran == PART_ALONE,
                     .kind = (uint8_t)kind};
        made *last = s->calls.n > first ? (made *)s->calls.data + s->calls.n - 1 : NULL;
        if (kind == TM_CALL_KIND_CAPTURED && !capturing)
            /* the capture began before the recording, so all calls of the thread until now were
             * captured */
            s->calls.n = first;
        if (kind == TM_CALL_KIND_CAPTURE || kind == TM_CALL_KIND_CAPTURED)
            capturing = kind == TM_CALL_KIND_CAPTURE;
        if (capturing ||
            !(is_launch(&call) || kind == TM_CALL_KIND_SYNC || kind == TM_CALL_KIND_COPY))
            continue;
        if (last && is_launch(last) && is_launch(&call) && call.end_ns <= last->end_ns) {
            last->ran_ns = call.ran_ns < last->ran_ns ? call.ran_ns : last->ran_ns;
            last->device = last->device == UNKNOWN_DEVICE ? call.device : last->device;
            continue;
        }
        if (!tm_vec_append(&s->calls, &call, 1))
            return false;
    }
    if (s->calls.n > first)
        place((made *)s->calls.data + first, s->calls.n - first);
    return true;
}

TM_ORDER_BY(by_begin, made, begin_ns, row);

static bool look(scan *s) {
    const tm_timeline *timeline = s->view->timeline;
    for (size_t i = 0; i < timeline->n_events; i++)
        s->ran[i] = TM_NO_EVENT;
    bool ok = look_at_device(s);
    settle_graphs(s);
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_CPU)
            ok = look_at_thread(s, &timeline->tracks[t]);
    if (ok && s->calls.n > 1)
        tm_sort(s->calls.data, s->calls.n, s->calls.size, by_begin);
    if (ok && s->unlinked.n > 1)
        qsort(s->unlinked.data, s->unlinked.n, s->unlinked.size, tm_compare_i64);
    return ok;
}

/* Returns whether an event of a launch was recorded. */
static bool was_recorded(const made *call) {
    return is_launch(call) && (has_run(call) || call->part);
}

/* Marks the launches of a recording that may be lost, and those at its edges. A launch is at an
 * edge if it is before the first launch with recorded events or after the last, and if the edge is
 * a small part of the recording. If no launch has events, there are no edges. */
static void mark_span(const tm_span *span, made *v, size_t n) {
    int64_t edge_ns = (span->end_ns - span->begin_ns) / EDGE_PART;
    size_t first = 0, end = n;
    while (first < n && !was_recorded(&v[first]))
        first++;
    while (end > 0 && !was_recorded(&v[end - 1]))
        end--;
    for (size_t i = 0; i < n; i++) {
        v[i].lost = is_launch(&v[i]) && !has_run(&v[i]);
        v[i].between = i >= first && i < end;
        v[i].edge = (end > 0 && i < first && span->gpu_begin_ns - v[0].begin_ns <= edge_ns) ||
                    (end > 0 && i >= end && span->end_ns - span->gpu_end_ns <= edge_ns);
    }
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Returns whether a call counts for a device. For UNKNOWN_DEVICE, every launch with events counts,
 * because it may have the unknown device. */
static bool is_for(const made *call, int32_t device) {
    return device == ANY_DEVICE || call->device == device ||
           (device == UNKNOWN_DEVICE && !call->lost);
}

/* Adds the times in which lost launches of a device may have run. Such a time lasts from a launch
 * until the host has waited for the GPU, or until the next launch with events starts to run. */
static bool hide_span(const tm_span *span, const made *v, size_t n, int32_t device,
                      tm_intervals *out) {
    int64_t open_ns = INT64_MAX, waited_ns = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        bool waits =
            v[i].kind == TM_CALL_KIND_SYNC || (v[i].kind == TM_CALL_KIND_COPY && !has_run(&v[i]));
        if (waits && open_ns < INT64_MAX && v[i].end_ns > waited_ns)
            waited_ns = v[i].end_ns;
        if (waits || !(v[i].lost || has_run(&v[i])) || !is_for(&v[i], device))
            continue;
        if (waited_ns > INT64_MIN || has_run(&v[i])) {
            int64_t end_ns = waited_ns > INT64_MIN ? waited_ns : v[i].ran_ns;
            if (open_ns < INT64_MAX &&
                !tm_intervals_add(out, open_ns, earlier(end_ns, span->end_ns)))
                return false;
            open_ns = INT64_MAX;
            waited_ns = INT64_MIN;
        }
        if (v[i].lost)
            open_ns = earlier(open_ns, v[i].begin_ns);
    }
    int64_t end_ns = waited_ns > INT64_MIN ? waited_ns : span->end_ns;
    return open_ns == INT64_MAX || tm_intervals_add(out, open_ns, earlier(end_ns, span->end_ns));
}

/* Returns how many kernels without a known launch may belong to launches without events. */
static int64_t explained(const scan *s) {
    const made *v = s->calls.data;
    const int64_t *begins = s->unlinked.data;
    size_t i = 0, k = 0;
    while (i < s->calls.n && !(v[i].lost && !v[i].edge))
        i++;
    while (i < s->calls.n && k < s->unlinked.n && begins[k] < v[i].begin_ns)
        k++;
    return (int64_t)(s->unlinked.n - k);
}

/* Decides which launches without events are lost. `inside` is the number of such launches that are
 * not at an edge. `found` is the number of kernels that may belong to them. If `found` is at least
 * `inside`, no launch is lost. If the difference is small, launches at the edges are not lost,
 * because kernels are normally missing there. */
static void settle(scan *s, tm_lost *out) {
    made *v = s->calls.data;
    int64_t inside = 0, found = explained(s);
    for (size_t i = 0; i < s->calls.n; i++) {
        out->launches += is_launch(&v[i]);
        inside += v[i].lost && !v[i].edge;
    }
    bool none = inside <= found;
    bool few = (inside - found) * LITTLE_PART < out->launches;
    for (size_t i = 0; i < s->calls.n; i++) {
        v[i].lost = v[i].lost && !none && !(few && v[i].edge);
        out->lost += v[i].lost;
        out->between += is_launch(&v[i]) && v[i].between;
        out->lost_between += v[i].lost && v[i].between;
        out->graphs += v[i].lost && v[i].kind == TM_CALL_KIND_GRAPH;
    }
    out->lost -= none ? 0 : found;
    out->lost_between = out->lost_between < out->lost ? out->lost_between : out->lost;
    out->graphs = out->graphs < out->lost ? out->graphs : out->lost;
}

static void count_steps(const scan *s, tm_lost *out) {
    const tm_timeline *timeline = s->view->timeline;
    const made *v = s->calls.data;
    for (size_t i = 0; i < timeline->n_steps; i++)
        out->steps += timeline->steps[i].annotated;
    for (size_t i = 0; i < s->calls.n; i++) {
        int32_t step = timeline->step[v[i].row];
        if (!v[i].lost || step == TM_NO_STEP || !timeline->steps[step].annotated ||
            s->step_kernels[step])
            continue;
        s->step_kernels[step] = 1; /* the step is now counted */
        out->steps_lost++;
    }
}

/* Returns how many calls are in a span. @p first is the first of them: all earlier calls are in
 * earlier spans. */
static size_t calls_of(const scan *s, size_t span, size_t first) {
    const tm_timeline *timeline = s->view->timeline;
    const made *v = s->calls.data;
    size_t end = first;
    while (end < s->calls.n &&
           (span + 1 == timeline->n_spans || v[end].begin_ns < timeline->spans[span].end_ns))
        end++;
    return end - first;
}

/* Finds the times in which lost launches may have run on a device. None of its recorded events ran
 * then. */
static bool hide(const scan *s, int32_t device, const tm_intervals *busy, tm_intervals *out) {
    const tm_timeline *timeline = s->view->timeline;
    const made *v = s->calls.data;
    tm_intervals may = TM_INTERVALS();
    bool ok = true;
    for (size_t k = 0, i = 0, n; k < timeline->n_spans && ok; k++, i += n) {
        n = calls_of(s, k, i);
        ok = hide_span(&timeline->spans[k], v + i, n, device, &may);
    }
    tm_intervals_normalise(&may);
    ok = ok && tm_intervals_subtract(&may, busy, out);
    tm_vec_free(&may);
    return ok;
}

static bool add_hidden(const scan *s, int32_t device, const tm_intervals *busy, tm_lost *out) {
    tm_intervals hidden = TM_INTERVALS();
    const bool ok = hide(s, device, busy, &hidden);
    out->hidden_ns += tm_intervals_length(&hidden);
    tm_vec_free(&hidden);
    return ok;
}

/* Sums the hidden time over devices. Launches whose device is unknown count as one more device. */
static bool hide_all(scan *s, tm_lost *out) {
    const tm_rank_view *view = s->view;
    const tm_device_busy *devices = view->devices->data;
    const tm_intervals none = TM_INTERVALS();
    made *v = s->calls.data;
    bool ok = hide(s, ANY_DEVICE, &view->busy->busy, &out->hidden);
    if (ok && view->devices->n == 0) {
        out->hidden_ns = tm_intervals_length(&out->hidden);
        return true;
    }
    for (size_t i = 0; i < s->calls.n; i++)
        if (v[i].device != UNSEEN_DEVICE && busy_of(view, v[i].device) == &view->busy->busy)
            v[i].device = UNKNOWN_DEVICE;
    for (size_t i = 0; i < view->devices->n && ok; i++)
        ok = add_hidden(s, devices[i].device, &devices[i].busy.busy, out);
    return ok && add_hidden(s, UNKNOWN_DEVICE, &view->busy->busy, out) &&
           add_hidden(s, UNSEEN_DEVICE, &none, out);
}

static bool count(scan *s, tm_lost *out) {
    const tm_timeline *timeline = s->view->timeline;
    made *v = s->calls.data;
    for (size_t k = 0, i = 0, n; k < timeline->n_spans; k++, i += n) {
        n = calls_of(s, k, i);
        if (n > 0)
            mark_span(&timeline->spans[k], v + i, n);
    }
    settle(s, out);
    count_steps(s, out);
    return hide_all(s, out);
}

/* Limits for recognising a sample by the distances between consecutive numbers of calls. CUPTI
 * numbers all calls of a process, but profilers omit some kinds of calls. In 46 real traces, the
 * median distance is at most 11. In a trace that keeps 0.5 % of the calls (HolisticTraceAnalysis,
 * trace_filter), it is 36. Each pause of the profiler makes one large distance. In a short trace,
 * most distances may be pauses, so traces with fewer than SAMPLE_LEAST numbers are not judged. */
enum { SAMPLE_LEAST = 100, SAMPLE_GAP = 20, SAMPLE_PART = 50 };

static bool is_of_cuda(const scan *s, uint32_t row) {
    const tm_text name = tm_names_text(s->view->names, s->view->timeline->name[row]);
    return name.size > 2 && name.bytes[0] == 'c' && name.bytes[1] == 'u';
}

/* Returns whether the call's number may be from CUPTI. */
static bool has_number(const tm_launch_attr *call) {
    return call->correlation > 0 && call->correlation <= UINT32_MAX;
}

/* Returns whether the range of n numbers is wide enough for half of the distances between them to
 * be large. */
static bool may_be_sparse(int64_t least, int64_t most, size_t n) {
    return n >= SAMPLE_LEAST && (most - least) / SAMPLE_PART >= (int64_t)n;
}

/* Returns whether the median distance of n ascending numbers is large. Replaces the numbers by
 * distances. */
static bool is_sparse(int64_t *v, size_t n) {
    if (n == 0 || !may_be_sparse(v[0], v[n - 1], n))
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        v[i] = v[i + 1] - v[i];
    return tm_median_any(v, n - 1) > SAMPLE_GAP;
}

static bool find_sample(const scan *s, tm_lost *out) {
    const tm_timeline *timeline = s->view->timeline;
    const tm_launch_attr *calls = timeline->attrs[TM_ATTR_LAUNCH];
    const size_t n = timeline->n_attrs[TM_ATTR_LAUNCH];
    tm_vec numbers = TM_VEC(int64_t);
    int64_t least = INT64_MAX, most = 0;
    size_t n_numbered = 0;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        if (!has_number(&calls[i]))
            continue;
        n_numbered++;
        least = calls[i].correlation < least ? calls[i].correlation : least;
        most = calls[i].correlation > most ? calls[i].correlation : most;
    }
    /* This check is quick, so it comes before names are checked. It also counts calls of other
     * runtimes than CUDA, but a trace has calls of only one runtime. */
    if (!may_be_sparse(least, most, n_numbered))
        return true;
    for (size_t i = 0; i < n && ok; i++)
        if (has_number(&calls[i]) && is_of_cuda(s, calls[i].event))
            ok = tm_vec_append(&numbers, &calls[i].correlation, 1) != NULL;
    if (numbers.n > 0)
        tm_sort_values(numbers.data, numbers.n);
    out->sampled = ok && is_sparse(numbers.data, numbers.n);
    tm_vec_free(&numbers);
    return ok;
}

tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    scan s = {.view = view,
              .calls = TM_VEC(made),
              .unlinked = TM_VEC(int64_t),
              .others = TM_VEC(reported)};
    *out = (tm_lost){.hidden = TM_INTERVALS()};
    s.ran = malloc((timeline->n_events + 1) * sizeof *s.ran);
    s.step_kernels = calloc(timeline->n_steps + 1, 1);
    bool ok = s.ran && s.step_kernels && look(&s) && (s.calls.n == 0 || count(&s, out)) &&
              find_sample(&s, out);
    out->known = out->launches > 0;
    free(s.ran);
    free(s.step_kernels);
    TM_VECS_FREE(&s.calls, &s.unlinked, &s.others);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_lost_free(tm_lost *lost) {
    tm_vec_free(&lost->hidden);
}
