#include "phase_time.h"

#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/host_time.h"
#include "base/median.h"
#include "timeline/host_comm.h"

/* Activities of threads, before their time is divided into phases. */
typedef struct raw_time {
    const tm_rank_view *view;
    /* `optimizer` includes the clearing of gradients, and `updates` does not */
    tm_intervals optimizer, updates;
    tm_intervals backward;
    tm_intervals calls; /* operators and runtime calls on main threads */
    tm_vec marks;       /* vector of int64_t: starts of steps, ascending */
    bool of_cpu; /* whether the device is the CPU; backward then runs on the main thread, which also
                    waits for gloo */
} raw_time;

/* Returns whether a thread is autograd's: it runs nodes of the graph, but neither marks steps nor
 * runs an optimizer. */
static bool is_autograd(const tm_thread *thread) {
    return thread->n_backward > 0 && !thread->marks_steps && !thread->optimizes;
}

/* Returns whether a call averages or copies gradients for DDP during backward. The call may run on
 * the thread that called backward. Sets *asks to whether the call starts a collective. A call that
 * starts a collective belongs to no set. */
static bool reduces_gradients(const raw_time *raw, uint32_t row, bool *asks) {
    static const char *const starts[] = {"torch::distributed::reducer::",
                                         "torch.distributed.ddp.reducer::"};
    const tm_text name = tm_names_text(raw->view->names, raw->view->timeline->name[row]);
    *asks = tm_host_comm_of(name) == TM_HOST_COMM_ASKS && !strstr(name.bytes, "::send") &&
            !strstr(name.bytes, "::recv");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Returns the set to which an operator or annotation is added; NULL if there is none.
 * @param rest  set for calls whose names show no phase */
static tm_intervals *set_of(raw_time *raw, tm_call_kind kind, uint8_t category,
                            tm_intervals *rest) {
    if (kind == TM_CALL_KIND_OPTIMIZER || kind == TM_CALL_KIND_ZERO_GRAD)
        return kind == TM_CALL_KIND_OPTIMIZER ? &raw->updates : &raw->optimizer;
    /* These calls count on every thread, because a program may run autograd's nodes itself. */
    if (kind == TM_CALL_KIND_BACKWARD && category == TM_CAT_CPU_OP)
        return &raw->backward;
    if (category == TM_CAT_USER_ANNOTATION || tm_call_kind_is_scope(kind))
        return NULL; /* such calls may enclose anything */
    return rest;
}

/* Adds the calls of a thread. Sets are normalised later, because several threads add to a set. */
static bool add_thread(raw_time *raw, const tm_track *track, bool main_thread, bool autograd) {
    const tm_timeline *timeline = raw->view->timeline;
    tm_intervals *rest = autograd ? &raw->backward : main_thread ? &raw->calls : NULL;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        uint8_t category = timeline->category[row];
        int64_t begin = timeline->begin_ns[row];
        tm_intervals *set = NULL;
        if (tm_host_is_scoped(timeline, row)) {
            tm_call_kind kind = tm_call_kinds_of(raw->view->call_kinds, timeline, row);
            set = set_of(raw, kind, category, rest);
            bool asks = false;
            if (raw->of_cpu && category == TM_CAT_CPU_OP && main_thread)
                set = reduces_gradients(raw, row, &asks) ? &raw->backward : asks ? NULL : set;
            if (kind == TM_CALL_KIND_STEP && !tm_vec_append(&raw->marks, &begin, 1))
                return false;
        } else if (timeline->kind[row] == TM_DURATION &&
                   (category == TM_CAT_RUNTIME || category == TM_CAT_DRIVER)) {
            set = rest;
        }
        if (set && !tm_intervals_add(set, begin, begin + timeline->duration_ns[row]))
            return false;
    }
    return true;
}

/* Adds the intervals of `from` to `into`, and normalises `into`. */
static bool join(tm_intervals *into, const tm_intervals *from) {
    const tm_interval *v = from->data;
    for (size_t i = 0; i < from->n; i++)
        if (!tm_intervals_add(into, v[i].begin_ns, v[i].end_ns))
            return false;
    tm_intervals_normalise(into);
    return true;
}

/* Finds autograd's threads and the main threads, and adds their calls. A main thread whose
 * operators were not recorded (such as with ProfilerActivity.CUDA only) shows no phase: its runtime
 * calls may be of any. */
static bool collect(raw_time *raw) {
    const tm_timeline *timeline = raw->view->timeline;
    const tm_thread *threads = raw->view->host->threads;
    size_t busiest = timeline->n_tracks;
    bool marked = false, ok = true;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        marked = marked || threads[t].marks_steps;
        if (!is_autograd(&threads[t]) && threads[t].n_operators > 0 &&
            (busiest == timeline->n_tracks ||
             threads[t].n_operators > threads[busiest].n_operators))
            busiest = t;
    }
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_CPU)
            ok = add_thread(raw, &timeline->tracks[t],
                            threads[t].n_operators > 0 &&
                                (marked ? threads[t].marks_steps : t == busiest),
                            is_autograd(&threads[t]));
    tm_intervals_normalise(&raw->updates);
    ok = ok && join(&raw->optimizer, &raw->updates);
    tm_intervals_normalise(&raw->backward);
    tm_intervals_normalise(&raw->calls);
    if (raw->marks.n > 1)
        tm_sort_values(raw->marks.data, raw->marks.n);
    return ok;
}

/* Returns whether a set has time in [begin, end). begin_ns must ascend from call to call. *from is
 * the first interval to look at. */
static bool has_time_in(const tm_intervals *set, size_t *from, int64_t begin_ns, int64_t end_ns) {
    const tm_interval *v = set->data;
    while (*from < set->n && v[*from].end_ns <= begin_ns)
        (*from)++;
    return *from < set->n && v[*from].begin_ns < end_ns;
}

static bool has_mark_in(const tm_vec *marks, size_t *from, int64_t begin_ns, int64_t end_ns) {
    const int64_t *v = marks->data;
    while (*from < marks->n && v[*from] < begin_ns)
        (*from)++;
    return *from < marks->n && v[*from] < end_ns;
}

/* Copies backward to `out`, and adds the gaps in which the main thread only waits for autograd's
 * threads. Gaps are visited in ascending order, so each of the other sets is read only once. */
static bool close_gaps(const raw_time *raw, tm_intervals *out) {
    const tm_interval *v = raw->backward.data;
    size_t call = 0, optimizer = 0, input = 0, mark = 0;
    for (size_t i = 0; i < raw->backward.n; i++) {
        int64_t begin = v[i].begin_ns, before = i > 0 ? v[i - 1].end_ns : begin;
        bool other = i == 0 || has_time_in(&raw->calls, &call, before, begin) ||
                     has_time_in(&raw->optimizer, &optimizer, before, begin) ||
                     has_time_in(&raw->view->host->input, &input, before, begin) ||
                     has_mark_in(&raw->marks, &mark, before, begin);
        if (!tm_intervals_add(out, other ? begin : before, v[i].end_ns))
            return false;
    }
    return true;
}

/* Returns the start of a set's next interval at or after a time; INT64_MAX if there is none. */
static int64_t next_begin(const tm_intervals *set, size_t *from, int64_t time_ns) {
    const tm_interval *v = set->data;
    while (*from < set->n && v[*from].begin_ns < time_ns)
        (*from)++;
    return *from < set->n ? v[*from].begin_ns : INT64_MAX;
}

/* Finds stretches of forward work. A stretch consists of the main threads' calls that are in no
 * other phase, and ends where another phase or a step starts. It is forward if backward comes next,
 * or if there is no backward. Clearing gradients does not end a stretch, because it may come before
 * or after forward. */
static bool find_forward(const raw_time *raw, const tm_intervals *calls, tm_phase_time *out,
                         tm_intervals *forward_and_clearing) {
    const tm_interval *v = calls->data;
    const int64_t *marks = raw->marks.data;
    size_t backward = 0, optimizer = 0, data = 0, mark = 0;
    for (size_t i = 0, k; i < calls->n; i = k) {
        int64_t begin = v[i].begin_ns;
        int64_t b = next_begin(&out->host[TM_PHASE_BACKWARD], &backward, begin);
        int64_t o = next_begin(&raw->updates, &optimizer, begin);
        int64_t d = next_begin(&out->host[TM_PHASE_DATA], &data, begin);
        while (mark < raw->marks.n && marks[mark] <= begin)
            mark++;
        int64_t next = mark < raw->marks.n ? marks[mark] : INT64_MAX;
        next = o < next ? o : next;
        next = d < next ? d : next;
        bool forward = b < next || out->host[TM_PHASE_BACKWARD].n == 0;
        next = b < next ? b : next;
        /* Gaps between calls, such as Python code, belong to the phase around them. */
        for (k = i + 1; k < calls->n && v[k].begin_ns < next; k++)
            ;
        int64_t end = v[k - 1].end_ns < next ? v[k - 1].end_ns : next;
        if (forward && !tm_intervals_add(forward_and_clearing, begin, end))
            return false;
    }
    return tm_intervals_subtract(forward_and_clearing, &raw->optimizer,
                                 &out->host[TM_PHASE_FORWARD]);
}

/* Gives each phase the time that no phase before it has, in the order of precedence in the header.
 * The set NONE is empty: uniting another set with it copies that set. */
static bool split_host(const raw_time *raw, tm_phase_time *out) {
    enum { BACKWARD, TAKEN, ALL, CALLS, FORWARD, NONE, N_SETS };
    const tm_intervals *input = &raw->view->host->input, *optimizer = &raw->optimizer;
    tm_intervals s[N_SETS];
    for (int i = 0; i < N_SETS; i++)
        s[i] = TM_INTERVALS();
    bool ok = close_gaps(raw, &s[BACKWARD]) &&
              tm_intervals_unite(optimizer, &s[NONE], &out->host[TM_PHASE_OPTIMIZER]) &&
              tm_intervals_subtract(&s[BACKWARD], optimizer, &out->host[TM_PHASE_BACKWARD]) &&
              tm_intervals_unite(optimizer, &s[BACKWARD], &s[TAKEN]) &&
              tm_intervals_subtract(input, &s[TAKEN], &out->host[TM_PHASE_DATA]) &&
              tm_intervals_unite(&s[TAKEN], input, &s[ALL]) &&
              tm_intervals_subtract(&raw->calls, &s[ALL], &s[CALLS]) &&
              find_forward(raw, &s[CALLS], out, &s[FORWARD]);
    for (int i = 0; i < N_SETS; i++)
        tm_vec_free(&s[i]);
    return ok;
}

/* Returns the interval of a set that contains a time; NULL if there is none. */
static const tm_interval *interval_at(const tm_intervals *set, int64_t time_ns) {
    const tm_interval *v = set->data;
    size_t i = tm_intervals_first_after(set, time_ns);
    return i < set->n && v[i].begin_ns <= time_ns ? &v[i] : NULL;
}

/* Interval and phase of the last launch. The next launch is mostly in the same interval. */
typedef struct place {
    const tm_interval *interval;
    int phase;
} place;

/* Returns the host's phase at a time; TM_N_PHASES for "other". */
static int phase_at(const tm_phase_time *phases, place *last, int64_t time_ns) {
    if (last->interval && last->interval->begin_ns <= time_ns && time_ns < last->interval->end_ns)
        return last->phase;
    for (int p = 0; p < TM_N_PHASES; p++) {
        const tm_interval *found = interval_at(&phases->host[p], time_ns);
        if (found) {
            *last = (place){found, p};
            return p;
        }
    }
    return TM_N_PHASES;
}

static bool split_gpu(const tm_rank_view *view, tm_phase_time *out) {
    const tm_timeline *timeline = view->timeline;
    tm_intervals raw[TM_N_PHASES];
    for (int p = 0; p < TM_N_PHASES; p++)
        raw[p] = TM_INTERVALS();
    place last = {NULL, TM_N_PHASES};
    const uint32_t end = tm_timeline_work_end(timeline);
    bool ok = true;
    for (uint32_t row = 0; row < end && ok; row++) {
        uint32_t asked = tm_timeline_asked(timeline, row);
        if (timeline->role[row] == TM_ROLE_NONE || asked == TM_NO_EVENT)
            continue;
        int phase = phase_at(out, &last, timeline->begin_ns[asked]);
        int64_t begin = timeline->begin_ns[row];
        if (phase < TM_N_PHASES)
            ok = tm_intervals_add(&raw[phase], begin, begin + timeline->duration_ns[row]);
    }
    /* If work of several phases runs at the same time, the time counts for the first of them.
     * `taken` is the time of all earlier phases. */
    tm_intervals taken = TM_INTERVALS(), next = TM_INTERVALS();
    for (int p = 0; p < TM_N_PHASES && ok; p++) {
        tm_intervals_normalise(&raw[p]);
        ok = tm_intervals_subtract(&raw[p], &taken, &out->gpu[p]) &&
             tm_intervals_unite(&taken, &raw[p], &next);
        tm_intervals swap = taken;
        taken = next;
        next = swap;
    }
    for (int p = 0; p < TM_N_PHASES; p++)
        tm_vec_free(&raw[p]);
    tm_vec_free(&taken);
    tm_vec_free(&next);
    return ok;
}

tm_status tm_phase_time_find(const tm_rank_view *view, tm_phase_time *out, tm_error *err) {
    raw_time raw = {.view = view,
                    .optimizer = TM_INTERVALS(),
                    .updates = TM_INTERVALS(),
                    .backward = TM_INTERVALS(),
                    .calls = TM_INTERVALS(),
                    .marks = TM_VEC(int64_t),
                    .of_cpu = tm_timeline_is_of_cpu(view->timeline)};
    for (int p = 0; p < TM_N_PHASES; p++)
        out->host[p] = out->gpu[p] = TM_INTERVALS();
    bool ok = collect(&raw) && split_host(&raw, out) && split_gpu(view, out);
    TM_VECS_FREE(&raw.optimizer, &raw.updates, &raw.backward, &raw.calls, &raw.marks);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_phase_time_free(tm_phase_time *phases) {
    for (int p = 0; p < TM_N_PHASES; p++) {
        tm_vec_free(&phases->host[p]);
        tm_vec_free(&phases->gpu[p]);
    }
}
