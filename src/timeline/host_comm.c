#include "host_comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intervals.h"
#include "base/letters.h"
#include "base/sorted.h"
#include "metadata.h"
#include "trace.h"

static bool begins(tm_text name, const char *start) {
    return strncmp(name.bytes, start, strlen(start)) == 0;
}

static bool is_batch(tm_text name) {
    return (begins(name, "enumerate(DataLoader)#") && strstr(name.bytes, "__next__")) ||
           begins(name, "enumerate(DataPipe)#");
}

tm_host_comm tm_host_comm_of(tm_text name) {
    static const char *const libraries[] = {"gloo:", "mpi:", "ucc:"};
    static const char *const askers[] = {"c10d::", "_c10d_functional::", "c10d_functional::"};
    if (!strchr("gmuc_e", *name.bytes)) /* a fast test that excludes most names */
        return TM_HOST_COMM_NONE;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *what = name.bytes + strlen(libraries[i]);
        if (begins(name, libraries[i]))
            return strncmp(what, "send", 4) == 0 || strncmp(what, "recv", 4) == 0
                       ? TM_HOST_COMM_TRANSFER
                       : TM_HOST_COMM_OPERATION;
    }
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++)
        if (begins(name, askers[i]))
            return strstr(name.bytes, "::wait_tensor") ? TM_HOST_COMM_WAITS : TM_HOST_COMM_ASKS;
    return is_batch(name) ? TM_HOST_COMM_INPUT : TM_HOST_COMM_NONE;
}

bool tm_timeline_is_of_cpu(const tm_timeline *timeline) {
    tm_text kind = tm_trace_noted(tm_timeline_metadata(timeline), TM_DEVICE_KIND);
    return tm_text_is(kind, TM_CPU_KIND);
}

uint32_t tm_timeline_work_end(const tm_timeline *timeline) {
    uint32_t end = 0;
    if (tm_timeline_is_of_cpu(timeline))
        return (uint32_t)timeline->n_events;
    for (size_t t = 0; t < timeline->n_tracks && timeline->tracks[t].kind == TM_TRACK_GPU; t++)
        end = timeline->tracks[t].first + timeline->tracks[t].count;
    return end;
}

/* State while the roles of a rank's events are found. */
typedef struct finder {
    tm_timeline *timeline;
    uint8_t *kinds; /* [names] tm_host_comm */
    uint8_t work;   /* tm_category of the events that may be work */
    uint32_t next;  /* first row of the current track that was not yet searched for requests and
                       waits */
} finder;

static tm_host_comm kind_at(const finder *f, uint32_t row) {
    const tm_timeline *t = f->timeline;
    bool scoped = t->category[row] == TM_CAT_CPU_OP || t->category[row] == TM_CAT_USER_ANNOTATION;
    return t->kind[row] == TM_DURATION && scoped ? (tm_host_comm)f->kinds[t->name[row]]
                                                 : TM_HOST_COMM_NONE;
}

static bool asks(const finder *f, uint32_t row) {
    tm_host_comm kind = kind_at(f, row);
    return kind == TM_HOST_COMM_ASKS || kind == TM_HOST_COMM_WAITS;
}

static bool track_asks(const finder *f, const tm_track *track) {
    for (uint32_t row = track->first; row < track->first + track->count; row++)
        if (asks(f, row))
            return true;
    return false;
}

/* Returns whether the thread requests communication, or waits for it, inside an operator. Such an
 * operator, for example an autograd node, contains waits, and so does not count as work. */
static bool holds_communication(finder *f, const tm_track *track, uint32_t row, int64_t end_ns) {
    const uint32_t after = track->first + track->count;
    f->next = f->next > row ? f->next : row + 1;
    while (f->next < after && !asks(f, f->next))
        f->next++;
    return f->next < after && f->timeline->begin_ns[f->next] < end_ns;
}

/* Finds a thread's work: its outermost operators. */
static void find_work(finder *f, const tm_track *track) {
    tm_timeline *t = f->timeline;
    int64_t reach_ns = INT64_MIN;
    f->next = track->first;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        int64_t begin = t->begin_ns[row], end = begin + t->duration_ns[row];
        tm_host_comm kind = kind_at(f, row);
        bool works =
            kind == TM_HOST_COMM_NONE && t->category[row] == f->work && t->kind[row] == TM_DURATION;
        if (end == begin || begin < reach_ns || kind == TM_HOST_COMM_TRANSFER)
            continue;
        if (works && holds_communication(f, track, row, end))
            continue; /* the operator is not work, but operators inside may be */
        if (works) {
            t->role[row] = TM_ROLE_COMPUTE;
            t->launch[row] = row;
        }
        if (works || kind != TM_HOST_COMM_NONE)
            reach_ns = end;
    }
}

/* An operation that a thread requested. */
typedef struct operation {
    int64_t begin_ns, end_ns;
    uint32_t row, track; /* row of the operation, and track of the thread that requested the
                            operation */
} operation;

TM_ORDER_BY(by_asker, operation, track, begin_ns, row);

static bool list_operations(const finder *f, tm_vec *out) {
    const tm_timeline *t = f->timeline;
    for (uint32_t row = 0; row < t->n_events; row++) {
        const uint32_t by = t->launch[row];
        if (kind_at(f, row) != TM_HOST_COMM_OPERATION || by == TM_NO_EVENT || by == row)
            continue;
        const operation one = {t->begin_ns[row], t->begin_ns[row] + t->duration_ns[row], row,
                               (uint32_t)(tm_timeline_track(t, by) - t->tracks)};
        if (!tm_vec_append(out, &one, 1))
            return false;
    }
    tm_sort(out->data, out->n, out->size, by_asker);
    return true;
}

/* Counters for the events of one name. They count pauses before such events: times in which the
 * thread was idle while an operation that it had requested was running.
 * - n: number of pauses;
 * - n_prompt: pauses after which the event started immediately after the end of an operation;
 * - n_near: pauses for which an operation ended near the start of the event. Near means less than a
 *   quarter of the pause before or after it. */
typedef struct pauses {
    uint32_t n, n_prompt, n_near;
} pauses;

/* Called for each time in which a thread was idle before an event. */
typedef void pause_visit(finder *f, operation *at, size_t n, tm_interval pause, pauses *of);

/* An idle time counts as a pause if it takes at least PAUSE_NS. An event is prompt if an operation
 * ended within PROMPT_NS before it. A thread waits before events of a name if at least PROMPT_LEAST
 * of them are prompt, and at least one in PROMPT_TIMES. This hardly happens by chance. */
enum { PAUSE_NS = 100000, PROMPT_NS = 200000, PROMPT_LEAST = 2, PROMPT_TIMES = 8 };

/* On a busy machine, the thread that waits gets its core late, and so does the thread that records
 * the end of the operation. So an event also counts if an operation ended before or after the
 * event's start by less than a quarter of the pause. There must be at least NEAR_LEAST pauses: the
 * probability that 6 of 8 ends are so near by chance is 0.4 %. */
enum { NEAR_LEAST = 8 };

/* Returns the time from the last end of one of n operations to the end of the pause, or INT64_MAX
 * if none of them ended before. */
static int64_t since_last_end(const operation *at, size_t n, tm_interval pause) {
    int64_t since_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (at[i].end_ns <= pause.end_ns && pause.end_ns - at[i].end_ns < since_ns)
            since_ns = pause.end_ns - at[i].end_ns;
    return since_ns;
}

/* Returns whether the thread continued immediately after one of n operations ended. */
static bool is_prompt(const operation *at, size_t n, tm_interval pause) {
    return since_last_end(at, n, pause) < PROMPT_NS;
}

static bool is_near(const operation *at, size_t n, tm_interval pause) {
    const int64_t quarter_ns = (pause.end_ns - pause.begin_ns) / 4;
    bool near = false;
    for (size_t i = 0; i < n; i++)
        near = near || (at[i].end_ns >= pause.end_ns - quarter_ns &&
                        at[i].end_ns <= pause.end_ns + quarter_ns);
    return near;
}

static void count_pause(finder *f, operation *at, size_t n, tm_interval pause, pauses *of) {
    (void)f;
    of->n++;
    of->n_prompt += is_prompt(at, n, pause);
    of->n_near += is_near(at, n, pause);
}

/* Returns whether threads wait for operations immediately before events of a name. */
static bool waits_before(const pauses *of) {
    return (of->n_prompt >= PROMPT_LEAST && PROMPT_TIMES * of->n_prompt >= of->n) ||
           (of->n >= NEAR_LEAST && 4 * of->n_near >= 3 * of->n);
}

/* Ends an operation at the moment at which a thread continued after a pause: the first operation
 * that is recorded as still running at this moment. Changes nothing if the thread seems to have
 * continued for another reason:
 * - another operation ended just before, or at least nearer to this moment than this operation: the
 *   thread waited for that one, and got its core late;
 * - as recorded, the operation lasted longer after this moment than the thread had waited. */
static void end_first(finder *f, operation *at, size_t n, tm_interval pause, pauses *of) {
    size_t i = 0;
    while (i < n && at[i].end_ns <= pause.end_ns)
        i++;
    if (i == n || !waits_before(of) || is_prompt(at, n, pause))
        return;
    const int64_t since = at[i].begin_ns > pause.begin_ns ? at[i].begin_ns : pause.begin_ns;
    const int64_t late_ns = at[i].end_ns - pause.end_ns;
    if (late_ns > pause.end_ns - since || late_ns > since_last_end(at, n, pause))
        return;
    at[i].end_ns = pause.end_ns;
    f->timeline->duration_ns[at[i].row] = pause.end_ns - at[i].begin_ns;
}

/* Calls @p visit for each time in which a thread was idle.
 * @param at  [n] operations that the thread requested */
static void visit_pauses(finder *f, const tm_track *track, operation *at, size_t n, pauses *names,
                         pause_visit *visit) {
    const tm_timeline *t = f->timeline;
    int64_t reach_ns = INT64_MAX;
    /* The operations [first, after) started before the event. The operations before `first` had
     * ended before the thread became idle. */
    size_t first = 0, after = 0;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        const int64_t begin_ns = t->begin_ns[row], end_ns = begin_ns + t->duration_ns[row];
        if (t->role[row] != TM_ROLE_COMPUTE && kind_at(f, row) != TM_HOST_COMM_ASKS)
            continue;
        while (after < n && at[after].begin_ns < begin_ns)
            after++;
        while (first < after && at[first].end_ns <= reach_ns)
            first++;
        if (reach_ns < begin_ns - PAUSE_NS && first < after)
            visit(f, at + first, after - first, (tm_interval){reach_ns, begin_ns},
                  &names[t->name[row]]);
        reach_ns = reach_ns == INT64_MAX || end_ns > reach_ns ? end_ns : reach_ns;
    }
}

/* Corrects the ends of operations. A thread that waits for an operation continues when the
 * operation is done. But another thread runs the operation, and records its end only when it gets a
 * core again, which may be too late. So this function finds the names of events before which
 * threads often wait. If an event of such a name starts while an operation is recorded as running,
 * the operation ended at this start. */
static bool end_operations(finder *f) {
    tm_vec operations = TM_VEC(operation);
    pauses *names = calloc(tm_timeline_n_names(f->timeline) + 1, sizeof *names);
    bool ok = names && list_operations(f, &operations);
    operation *all = operations.data;
    for (size_t first = 0, end = 0; ok && first < operations.n; first = end) {
        const tm_track *track = &f->timeline->tracks[all[first].track];
        while (end < operations.n && all[end].track == all[first].track)
            end++;
        visit_pauses(f, track, all + first, end - first, names, count_pause);
        visit_pauses(f, track, all + first, end - first, names, end_first);
    }
    free(names);
    tm_vec_free(&operations);
    return ok;
}

/* Finds what is work in MPI programs. Some readers make events of the work between MPI calls. If
 * there are such events, nothing else is work. An MPI call that communicates becomes its own
 * launch, because no operator requested it. */
static void find_mpi(finder *f) {
    tm_timeline *t = f->timeline;
    f->work = TM_CAT_CPU_OP;
    for (uint32_t row = 0; row < t->n_events; row++) {
        if (t->category[row] == TM_CAT_HOST_WORK)
            f->work = TM_CAT_HOST_WORK;
        if (t->category[row] == TM_CAT_MPI && t->role[row] == TM_ROLE_COMMUNICATION)
            t->launch[row] = row;
    }
}

void tm_timeline_set_cpu_spans(tm_timeline *timeline) {
    size_t row = 0;
    while (row < timeline->n_events && timeline->role[row] == TM_ROLE_NONE)
        row++;
    for (size_t i = 0; i < timeline->n_spans && row < timeline->n_events; i++) {
        tm_span *span = &timeline->spans[i];
        span->gpu_begin_ns = span->begin_ns;
        span->gpu_end_ns = span->end_ns;
        span->n_gpu_events = span->n_durations;
    }
}

tm_status tm_timeline_find_cpu_roles(tm_timeline *timeline, const tm_names *names, tm_error *err) {
    size_t n_names = tm_timeline_n_names(timeline);
    finder f = {.timeline = timeline, .kinds = calloc(n_names + 1, 1)};
    bool any = false;
    if (!f.kinds)
        return tm_fail_memory(err);
    for (uint32_t name = 0; name < n_names; name++)
        f.kinds[name] = (uint8_t)tm_host_comm_of(tm_names_text(names, name));
    find_mpi(&f);
    for (size_t k = 0; k < timeline->n_tracks && !any; k++)
        any = track_asks(&f, &timeline->tracks[k]);
    for (size_t k = 0; k < timeline->n_tracks; k++) {
        const tm_track *track = &timeline->tracks[k];
        if (track->kind == TM_TRACK_CPU && (!any || track_asks(&f, track)))
            find_work(&f, track);
    }
    const bool ok = end_operations(&f);
    free(f.kinds);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Collects the operations of host communication, and the calls that requested them. Collects
 * nothing if all communication is on devices. */
static bool collect_asking(const tm_timeline *timeline, tm_intervals *operations,
                           tm_intervals *active) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    bool ok = true;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE] && ok; i++) {
        const uint32_t row = attrs[i].event, asked = timeline->launch[row];
        const int64_t begin = timeline->begin_ns[row];
        if (timeline->role[row] != TM_ROLE_COMMUNICATION ||
            timeline->category[row] == TM_CAT_KERNEL)
            continue;
        ok =
            tm_vec_append(operations, &(tm_interval){begin, begin + timeline->duration_ns[row]}, 1);
        /* An MPI call is its own launch, and a transfer starts with its request: the thread itself
         * communicates in it. */
        if (ok && asked != TM_NO_EVENT && timeline->begin_ns[asked] < begin)
            ok = tm_intervals_add(active, timeline->begin_ns[asked],
                                  timeline->begin_ns[asked] + timeline->duration_ns[asked]);
    }
    return ok;
}

/* Time of communication for which no thread waits counts as computation, because a thread can do
 * anything then, for example run Python. If a thread is idle at the end of an operation, it has
 * waited since its last work. If it works again before the operation ends, it has not waited. */
bool tm_timeline_add_hidden(const tm_timeline *timeline, const tm_intervals *communication,
                            tm_intervals *compute) {
    tm_intervals operations = TM_VEC(tm_interval), asking = TM_INTERVALS(), active = TM_INTERVALS();
    tm_intervals waits = TM_INTERVALS(), hidden = TM_INTERVALS(), all = TM_INTERVALS();
    bool ok = collect_asking(timeline, &operations, &asking);
    tm_intervals_normalise(&asking);
    ok = ok && (operations.n == 0 || tm_intervals_unite(&asking, compute, &active));
    const tm_interval *v = operations.data, *a = active.data;
    for (size_t i = 0; i < operations.n && ok; i++) {
        const size_t next = tm_intervals_first_after(&active, v[i].end_ns - 1);
        const int64_t since = next > 0 ? a[next - 1].end_ns : INT64_MIN;
        if (next == active.n || a[next].begin_ns >= v[i].end_ns)
            ok = tm_intervals_add(&waits, since > v[i].begin_ns ? since : v[i].begin_ns,
                                  v[i].end_ns);
    }
    tm_intervals_normalise(&waits);
    if (ok && operations.n > 0) {
        ok = tm_intervals_subtract(communication, &waits, &hidden) &&
             tm_intervals_unite(compute, &hidden, &all);
        tm_vec_free(compute);
        *compute = all;
    }
    TM_VECS_FREE(&operations, &asking, &active, &waits, &hidden);
    return ok;
}

static const char peer_prefix[] = "peer ", peer_separator[] = " or ";

void tm_peers_text(const int64_t *peers, size_t n, char out[TM_PEERS_TEXT_MAX]) {
    size_t at = (size_t)snprintf(out, TM_PEERS_TEXT_MAX, "%s", peer_prefix);
    for (size_t i = 0; i < n && at < TM_PEERS_TEXT_MAX; i++)
        at += (size_t)snprintf(out + at, TM_PEERS_TEXT_MAX - at, "%s%" PRId64,
                               i > 0 ? peer_separator : "", peers[i]);
}

size_t tm_peers_read(const char *text, int64_t peers[TM_PEERS_MAX]) {
    size_t n = 0;
    if (strncmp(text, peer_prefix, sizeof peer_prefix - 1) != 0)
        return 0;
    for (const char *p = text + sizeof peer_prefix - 1; p && n < TM_PEERS_MAX;) {
        peers[n++] = strtoll(p, NULL, 10);
        p = strstr(p, peer_separator);
        p = p ? p + sizeof peer_separator - 1 : NULL;
    }
    return n;
}
