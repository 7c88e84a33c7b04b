/* Adds the edges into the starts and ends of host calls. */
#include "builder.h"

#include <stdlib.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sorted.h"
#include "timeline/host_comm.h"

/* Usual time from the end of an event to the end of the call that waited for it. */
static const int64_t WAITING_CALL_NS = 3000;
/* A call of at least EARLY_LEAST_NS may seem to end up to EARLY_NS before the event for which it
 * waited. There are two reasons. The clocks of device and host differ by microseconds. A copy of
 * pageable memory returns once its last part is staged. */
static const int64_t EARLY_NS = 40000, EARLY_LEAST_NS = 20000;
/* Minimum duration of a launch that counts as waiting for the event that it launched. The launch
 * must also end after this event. (Copies of pageable memory wait in this way.) */
static const int64_t PAGEABLE_NS = 20000;
/*
 * A launch counts as a wait for room in the queue if it took more than FULL_NS and more than
 * FULL_TIMES the usual length of calls of its name, and if an event ended at most FULL_BEFORE_NS
 * before the end of the launch. If many events ended during the launch, this may be a coincidence.
 * In this case, the queue must also have been nearly full: it held FULL_SHARE of its maximum, which
 * is at least FULL_LEAST.
 *
 * The number of launches in the queue is the larger of two counts: the launches whose work was not
 * done when the waiting launch ended, and the launches after the one that launched the event. (The
 * work of some of these later launches may be done, on other streams.)
 */
static const int64_t FULL_NS = 20000, FULL_BEFORE_NS = 20000;
enum { FULL_TIMES = 5, FULL_LEAST = 32 };
static const double FULL_SHARE = 0.75, SHORT_SHARE = 0.02;
/* If no waits are recorded, a thread counts as waiting if it has no recorded events for at least
 * this long. */
static const int64_t DARK_NS = 1000000;

typedef struct thread {
    uint32_t last_call; /* latest call of the thread so far, or TM_NO_PART */
    uint32_t row;       /* first row of the thread that find_dark must still search */
    int64_t reach_ns;   /* latest end of the thread's rows before `row` */
    size_t span;        /* index of the thread's first span that may end after last_call starts */
} thread;

typedef struct host_walk {
    tm_builder *m;
    const tm_part_event *events; /* borrowed from tm_graph_input */
    const tm_part_call *calls;
    thread *threads; /* owned; by track */
    /* owned; [tracks] for each track, the event that was launched last so far, or TM_NO_PART */
    uint32_t *last_event;
    /* the event that was launched last so far, on any stream; or TM_NO_PART */
    uint32_t latest_event;
    uint32_t *by_end;    /* owned; indices of calls, sorted by end */
    uint32_t *ended;     /* owned; indices of events, sorted by end; NULL until needed */
    bool failed;         /* memory ran out while `ended`, `ahead` or `usual` was computed */
    uint32_t *ahead;     /* owned; [calls] number of earlier launches whose work was not done at the
                            call's end; NULL until needed */
    uint32_t most_ahead; /* maximum of ahead */
    /* [calls] number of launches that had ended when the call ended. Allocated together with
     * `ahead`. */
    uint32_t *n_launches;
    tm_keys usual_names; /* keys of type uint32_t: name ids, parallel to `usual` */
    tm_vec usual; /* vector of int64_t: how long calls of the name take if they do not wait [ns] */
    /* The rank's device is the CPU. Threads then wait only for communication. The trace records
     * when communication ends, but it records no waits. */
    bool of_cpu;
    size_t n_ended; /* number of calls in by_end that had ended when the current call started */
} host_walk;

static const tm_part_event *event_at(const host_walk *w, uint32_t i) {
    return w->events + i;
}

static const tm_part_call *call_at(const host_walk *w, uint32_t i) {
    return w->calls + i;
}

typedef struct ending {
    int64_t ns;
    uint32_t index;
} ending;

TM_ORDER_BY(by_end, ending, ns, index);

/*
 * Returns the indices of elements, sorted by the elements' end times. NULL when out of memory.
 *
 * @param offset  offset of the end time (int64_t) in each element
 */
static uint32_t *order_by_end(const tm_vec *parts, size_t offset) {
    ending *ends = malloc((parts->n + 1) * sizeof *ends);
    uint32_t *out = malloc((parts->n + 1) * sizeof *out);
    for (size_t i = 0; i < parts->n && ends; i++) {
        const char *part = (const char *)parts->data + i * parts->size;
        ends[i] = (ending){*(const int64_t *)(const void *)(part + offset), (uint32_t)i};
    }
    if (ends)
        tm_sort(ends, parts->n, sizeof *ends, by_end);
    for (size_t i = 0; i < parts->n && ends && out; i++)
        out[i] = ends[i].index;
    if (!ends) {
        free(out);
        out = NULL;
    }
    free(ends);
    return out;
}

/* Returns how many events had ended by @p ns. Sorts the events on first use, because most ranks
 * need no order by end. */
static size_t n_ended_by(host_walk *w, int64_t ns) {
    size_t low = 0, high = w->m->input->events.n;
    if (!w->ended)
        w->ended = order_by_end(&w->m->input->events, offsetof(tm_part_event, end_ns));
    w->failed = w->failed || !w->ended;
    if (w->failed)
        return 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (event_at(w, w->ended[middle])->end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the index of the last event that had ended by @p ns; TM_NO_PART if no event had ended. */
static uint32_t ended_by(host_walk *w, int64_t ns) {
    const size_t n = n_ended_by(w, ns);
    return n > 0 ? w->ended[n - 1] : TM_NO_PART;
}

/* Adds a cause of the end of a call that waited for @p event, but seems to end before @p event. The
 * cause is the latest event of the same stream that started before the call ended. */
static bool add_early_wait(host_walk *w, uint32_t event, const tm_part_call *call) {
    if (event_at(w, event)->end_ns > call->end_ns + EARLY_NS ||
        call->end_ns - call->begin_ns < EARLY_LEAST_NS)
        return true;
    while (event != TM_NO_PART && event_at(w, event)->begin_ns >= call->end_ns)
        event = event_at(w, event)->before;
    return event == TM_NO_PART || event_at(w, event)->end_ns <= call->begin_ns ||
           tm_builder_end(w->m, event, call->end_ns, WAITING_CALL_NS, TM_EDGE_SYNC);
}

static bool add_wait_for(host_walk *w, uint32_t event, const tm_part_call *call) {
    const tm_part_event *e = event == TM_NO_PART ? NULL : event_at(w, event);
    if (!e || e->end_ns <= call->begin_ns)
        return true;
    if (e->end_ns > call->end_ns)
        return add_early_wait(w, event, call);
    const tm_cause cause = {tm_event_end(event), e->end_ns, WAITING_CALL_NS, TM_EDGE_SYNC};
    return tm_builder_cause(w->m, &cause);
}

/* Returns how long calls of a name take if they do not wait [ns]. This is the SHORT_SHARE quantile
 * of their lengths. The quantile is low, because most launches wait if the queue is full. Computed
 * on first use. */
static int64_t usual_length(host_walk *w, uint32_t name) {
    const uint32_t *names = w->m->input->timeline->name;
    size_t known = w->usual_names.keys.n;
    int64_t *usual = tm_keys_value(&w->usual_names, &w->usual, &name);
    if (usual && w->usual_names.keys.n == known)
        return *usual;
    tm_vec lengths = TM_VEC(int64_t);
    w->failed = w->failed || !usual;
    for (size_t i = 0; i < w->m->input->calls.n && !w->failed; i++) {
        int64_t length = w->calls[i].end_ns - w->calls[i].begin_ns;
        w->failed = names[w->calls[i].row] == name && !tm_vec_append(&lengths, &length, 1);
    }
    if (w->failed) {
        tm_vec_free(&lengths);
        return INT64_MAX / FULL_TIMES;
    }
    *usual = INT64_MAX / FULL_TIMES;
    if (lengths.n > 0)
        *usual = tm_select(lengths.data, lengths.n, (size_t)(SHORT_SHARE * (double)lengths.n));
    tm_vec_free(&lengths);
    return *usual;
}

/* Computes `ahead` and `n_launches`. False when out of memory. */
static bool count_ahead(host_walk *w) {
    const size_t n = w->m->input->calls.n;
    ending *ends = malloc((n + 1) * sizeof *ends);
    w->ahead = calloc(n + 1, 2 * sizeof *w->ahead);
    w->n_launches = w->ahead ? w->ahead + n + 1 : NULL;
    size_t n_ends = 0;
    for (size_t c = 0; c < n && ends; c++)
        if (w->calls[c].launched != TM_NO_PART)
            ends[n_ends++] = (ending){event_at(w, w->calls[c].launched)->end_ns, (uint32_t)c};
    if (!ends || !w->ahead) {
        free(ends);
        return false;
    }
    tm_sort(ends, n_ends, sizeof *ends, by_end);
    size_t launched = 0, ended = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t c = w->by_end[i];
        launched += w->calls[c].launched != TM_NO_PART;
        while (ended < n_ends && ends[ended].ns <= w->calls[c].end_ns)
            ended++;
        w->ahead[c] = (uint32_t)(launched > ended ? launched - ended : 0);
        w->n_launches[c] = (uint32_t)launched;
        w->most_ahead = w->ahead[c] > w->most_ahead ? w->ahead[c] : w->most_ahead;
    }
    free(ends);
    return true;
}

/* Returns whether only few events ended during the call, so that one of them ends in the call's
 * last FULL_BEFORE_NS by chance with a probability below 1 %. */
static bool ends_with_one(host_walk *w, const tm_part_call *call) {
    const size_t n = n_ended_by(w, call->end_ns) - n_ended_by(w, call->begin_ns);
    return (call->end_ns - call->begin_ns) / FULL_BEFORE_NS >= 100 * (int64_t)n;
}

/* See FULL_NS. */
static bool was_full(host_walk *w, uint32_t c) {
    const tm_part_call *call = call_at(w, c);
    int64_t length = call->end_ns - call->begin_ns;
    if (length <= FULL_NS || call->launched == TM_NO_PART ||
        length <= FULL_TIMES * usual_length(w, w->m->input->timeline->name[call->row]))
        return false;
    uint32_t last = ended_by(w, call->end_ns);
    if (last == TM_NO_PART || event_at(w, last)->end_ns < call->end_ns - FULL_BEFORE_NS)
        return false;
    if (ends_with_one(w, call))
        return true;
    w->failed = w->failed || (!w->ahead && !count_ahead(w));
    if (w->failed || w->most_ahead < FULL_LEAST)
        return false;
    const uint32_t by = event_at(w, last)->call;
    const uint32_t since = by == TM_NO_PART || w->n_launches[c] < w->n_launches[by]
                               ? 0
                               : w->n_launches[c] - w->n_launches[by];
    const uint32_t most = since > w->ahead[c] ? since : w->ahead[c];
    return (double)most >= FULL_SHARE * (double)w->most_ahead;
}

/* Adds the events that a call waited for as causes of the call's end. */
static bool add_waits(host_walk *w, uint32_t c) {
    const tm_part_call *call = call_at(w, c);
    const tm_asked *asked;
    switch ((tm_call_class_kind)call->kind) {
    case TM_CALL_WAITS_DEVICE:
        for (size_t k = 0; k < w->m->input->timeline->n_tracks; k++)
            if (!add_wait_for(w, w->last_event[k], call))
                return false;
        return true;
    case TM_CALL_WAITS_STREAM:
    case TM_CALL_WAITS_EVENT:
        asked = tm_recorded_of(w->m->recorded, call->row);
        for (uint32_t i = 0; asked && i < asked->n; i++)
            if (!add_wait_for(w, tm_recorded_sources(w->m->recorded, asked)[i], call))
                return false;
        return asked || add_wait_for(w, w->latest_event, call);
    case TM_CALL_WAITS_OWN:
        return add_wait_for(w, call->launched, call);
    default:
        if (call->end_ns - call->begin_ns > PAGEABLE_NS && call->launched != TM_NO_PART &&
            event_at(w, call->launched)->end_ns <= call->end_ns)
            return add_wait_for(w, call->launched, call);
        return !was_full(w, c) || add_wait_for(w, ended_by(w, call->end_ns), call);
    }
}

static bool add_end(host_walk *w, uint32_t c) {
    const tm_part_call *call = call_at(w, c);
    int64_t length = call->end_ns - call->begin_ns;
    if (!add_waits(w, c))
        return false;
    if (w->m->causes.n > 0 && length > WAITING_CALL_NS)
        length = WAITING_CALL_NS;
    const tm_new_edge edge = {
        .ns = length, .peer_ns = length, .from = tm_call_begin(w->m, c), .kind = TM_EDGE_CALL};
    return tm_builder_edge(w->m, tm_call_end(w->m, c), &edge) &&
           (w->m->causes.n == 0 || tm_builder_settle(w->m, tm_call_end(w->m, c), call->end_ns));
}

/* Finds the longest time without events on the thread of a call. Searches between @p since and the
 * start of the call. Sets [*from, *to) to the time found. */
static void find_dark(host_walk *w, const tm_part_call *call, int64_t since, int64_t *from,
                      int64_t *to) {
    const tm_timeline *t = w->m->input->timeline;
    thread *at = &w->threads[call->thread];
    int64_t shift = call->begin_ns - t->begin_ns[call->row];
    *from = *to = since;
    for (; at->row <= call->row; at->row++) {
        int64_t begin = t->begin_ns[at->row] + shift, clear = at->reach_ns;
        if (t->kind[at->row] != TM_DURATION || tm_timeline_is_step(t, at->row))
            continue;
        clear = clear > since ? clear : since;
        if (begin - clear > *to - *from) {
            *from = clear;
            *to = begin;
        }
        if (begin + t->duration_ns[at->row] > at->reach_ns)
            at->reach_ns = begin + t->duration_ns[at->row];
    }
}

/* Returns the spans on a call's thread that started before the call, except spans that had ended
 * when the thread's previous call started. */
static const tm_part_span *spans_before(const host_walk *w, const tm_part_call *call, size_t *n) {
    const tm_part_span *spans = w->m->input->spans.data;
    thread *at = &w->threads[call->thread];
    size_t all = w->m->input->spans.n, i = at->span, end;
    while (i < all && spans[i].thread == call->thread && at->last_call != TM_NO_PART &&
           spans[i].end_ns <= call_at(w, at->last_call)->begin_ns)
        i++;
    at->span = end = i;
    while (end < all && spans[end].thread == call->thread && spans[end].begin_ns < call->begin_ns)
        end++;
    *n = end - i;
    return spans + i;
}

/* Of all events launched so far, returns the event that ends last; TM_NO_PART if there is none. */
static uint32_t last_to_end(const host_walk *w) {
    uint32_t found = TM_NO_PART;
    for (size_t k = 0; k < w->m->input->timeline->n_tracks; k++) {
        const uint32_t last = w->last_event[k];
        if (last != TM_NO_PART &&
            (found == TM_NO_PART || event_at(w, last)->end_ns > event_at(w, found)->end_ns))
            found = last;
    }
    return found;
}

/* Returns whether an event that was already launched ends after @p ns. If so, a wait that ended at
 * @p ns was not for the whole GPU. */
static bool runs_on(const host_walk *w, int64_t ns) {
    const uint32_t last = last_to_end(w);
    return last != TM_NO_PART && event_at(w, last)->end_ns > ns;
}

/* Finds a wait for the device between @p since and @p call. Such a wait is an earlier call of class
 * TM_CALL_MAY_WAIT that waited for all launched work. Sets [*from, *to) to the time of the earlier
 * call. Returns the launched event that ends last, because the earlier call waited for it. Returns
 * TM_NO_PART if no call waited. */
static uint32_t find_wait(const host_walk *w, const tm_part_call *call, int64_t since,
                          int64_t *from, int64_t *to) {
    size_t n;
    const tm_part_span *spans = spans_before(w, call, &n);
    uint32_t last = TM_NO_PART;
    for (size_t i = 0; i < n; i++) {
        if (spans[i].flags != TM_SPAN_MAY_WAIT || spans[i].begin_ns < since)
            continue;
        last = last == TM_NO_PART ? last_to_end(w) : last;
        if (last == TM_NO_PART || event_at(w, last)->end_ns <= spans[i].begin_ns)
            break;
        if (event_at(w, last)->end_ns > spans[i].end_ns)
            continue;
        *from = spans[i].begin_ns;
        *to = spans[i].end_ns;
        return last;
    }
    return TM_NO_PART;
}

/* Returns flags for loading data and for garbage collection. A flag is set if its activity took at
 * least half of the last @p ns before a call. */
static uint8_t spent_in(const host_walk *w, const tm_part_call *call, int64_t since, int64_t ns) {
    int64_t in[2] = {0}, reach[2] = {since, since}; /* [0] loading data, [1] garbage collection */
    size_t n;
    const tm_part_span *spans = spans_before(w, call, &n);
    for (size_t i = 0; i < n; i++) {
        int which = spans[i].flags == TM_EDGE_GC;
        if (spans[i].flags == TM_SPAN_MAY_WAIT)
            continue;
        int64_t begin = spans[i].begin_ns > reach[which] ? spans[i].begin_ns : reach[which];
        int64_t end = spans[i].end_ns < call->begin_ns ? spans[i].end_ns : call->begin_ns;
        in[which] += end > begin ? end - begin : 0;
        reach[which] = end > reach[which] ? end : reach[which];
    }
    return (uint8_t)((ns > 0 && 2 * in[0] >= ns ? TM_EDGE_INPUT : 0) |
                     (ns > 0 && 2 * in[1] >= ns ? TM_EDGE_GC : 0));
}

/* Shortest time between two calls that may be an unrecorded wait. */
static const int64_t BLOCKED_NS = 50000;

/* If the device was busy for at least half of the time between two calls, and then had no work
 * left, adds its busy time to blocked_ns. Without recorded waits, it is unknown whether the host
 * worked or waited during the busy time. */
static void count_blocked(host_walk *w, const tm_part_call *call, int64_t since) {
    const int64_t gap = call->begin_ns - since;
    const uint32_t last = gap >= BLOCKED_NS ? last_to_end(w) : TM_NO_PART;
    if (last == TM_NO_PART)
        return;
    const int64_t end = event_at(w, last)->end_ns;
    if (end <= call->begin_ns && end - since >= gap / 2)
        w->m->graph->blocked_ns += end - since;
}

/* Returns whether a thread of a CPU rank continued so soon after the end of an operation that it
 * must have waited for the operation. */
static bool is_prompt(int64_t gap_ns, int64_t after_ns) {
    enum { PROMPT_TIMES = 20 };
    return after_ns * PROMPT_TIMES <= gap_ns;
}

/* Returns the event for which a thread may have waited until @p ns; TM_NO_PART if there is none.
 * Within a step, a host waits for its whole GPU, so nothing runs on. A thread of a CPU rank waits
 * for single operations.
 * @param gap_ns  how long the thread did nothing before @p ns */
static uint32_t waited_for(host_walk *w, bool within, int64_t gap_ns, int64_t ns) {
    const uint32_t last = ended_by(w, ns);
    if (last == TM_NO_PART || !within || !runs_on(w, ns))
        return last;
    return w->of_cpu && is_prompt(gap_ns, ns - event_at(w, last)->end_ns) ? last : TM_NO_PART;
}

/* Adds the edge from call @p source to the start of call @p c. */
static bool add_host(host_walk *w, uint32_t c, uint32_t source) {
    const tm_part_call *call = call_at(w, c), *before = call_at(w, source);
    bool inside = before->end_ns > call->begin_ns ||
                  (before->end_ns == call->begin_ns && before->begin_ns == call->begin_ns);
    int64_t since = inside ? before->begin_ns : before->end_ns, dark = 0, lit = 0;
    tm_new_edge edge = {.ns = call->begin_ns - since,
                        .peer_ns = call->begin_ns - since,
                        .from = inside ? tm_call_begin(w->m, source) : tm_call_end(w->m, source),
                        .kind = TM_EDGE_HOST};
    uint32_t last = find_wait(w, call, since, &dark, &lit);
    const bool known = last != TM_NO_PART;
    if (!known && !w->of_cpu && !w->m->input->syncs)
        count_blocked(w, call, since);
    /* a thread of a CPU rank waits between its operators */
    if (!known && w->of_cpu && edge.ns > DARK_NS) {
        dark = since;
        lit = call->begin_ns;
    } else if (!known && !w->m->input->syncs && edge.ns > DARK_NS)
        find_dark(w, call, since, &dark, &lit);
    /* If the calls are of different steps, the host may have waited for an event of the earlier
     * step. */
    const bool within = before->step == call->step;
    if (!known && lit - dark > DARK_NS)
        last = waited_for(w, within, lit - dark, lit);
    int64_t end = last == TM_NO_PART ? INT64_MIN : event_at(w, last)->end_ns;
    if (end > dark)
        edge.peer_ns = edge.ns -= end - dark;
    edge.flags = spent_in(w, call, since, edge.ns);
    if (lit - dark > DARK_NS && !within && !w->of_cpu) {
        edge.flags |= TM_EDGE_UNSEEN;
        edge.peer_ns = lit - (end > dark ? end : dark);
        w->m->unseen = true;
    }
    if (end > dark) { /* the time after the event's end is also host time */
        tm_new_edge wait = edge;
        wait.ns = call->begin_ns - end;
        wait.peer_ns = edge.flags & TM_EDGE_UNSEEN ? edge.peer_ns : wait.ns;
        wait.from = tm_event_end(last);
        const bool sure = known || (w->of_cpu && is_prompt(lit - dark, lit - end));
        wait.over_ns = sure ? 0 : lit - dark;
        if (!tm_builder_edge(w->m, tm_call_begin(w->m, c), &wait))
            return false;
    }
    return tm_builder_edge(w->m, tm_call_begin(w->m, c), &edge);
}

/* Returns the call that leads to call @p c. This is the previous call of its thread, or the rank's
 * call that ended last if another thread handed over to this thread (forward to autograd and
 * back). */
static uint32_t source_of(host_walk *w, uint32_t c) {
    const tm_part_call *call = call_at(w, c);
    while (w->n_ended < w->m->input->calls.n &&
           call_at(w, w->by_end[w->n_ended])->end_ns <= call->begin_ns && w->by_end[w->n_ended] < c)
        w->n_ended++;
    uint32_t before = w->threads[call->thread].last_call;
    uint32_t latest = w->n_ended > 0 ? w->by_end[w->n_ended - 1] : TM_NO_PART;
    if (latest == TM_NO_PART || call_at(w, latest)->thread == call->thread)
        return before;
    if (before == TM_NO_PART || call_at(w, latest)->begin_ns > call_at(w, before)->end_ns)
        return latest;
    return before;
}

/* Returns the participation in the last operation that ended before @p ns and lacks the rank's
 * kernel; n_participants if there is none. */
static size_t missing_before(const tm_builder *m, int64_t ns) {
    if (m->n_named == m->n_participants)
        return m->n_participants;
    const size_t n = TM_FIRST_AFTER(tm_replay_participant, end_ns, m->participants + m->n_named,
                                    m->n_participants - m->n_named, ns);
    return n > 0 ? m->n_named + n - 1 : m->n_participants;
}

/* Adds the edge to the rank's first call. If the root is the start of the first step, the edge is
 * host time since the root. Otherwise, if the other ranks recorded an operation of the rank before
 * the call, the edge is from this operation: a rank that starts to record later than the others
 * moves with them. */
static bool add_first(host_walk *w, uint32_t c) {
    const int64_t ns = call_at(w, c)->begin_ns;
    const size_t v = missing_before(w->m, ns);
    tm_new_edge edge = {.ns = ns,
                        .peer_ns = ns,
                        .from = TM_FROM_ROOT,
                        .kind = TM_EDGE_HOST,
                        .flags = spent_in(w, call_at(w, c), 0, ns)};
    if (!w->m->input->of_step && v < w->m->n_participants) {
        edge.ns = edge.peer_ns = ns - w->m->participants[v].last_ns;
        edge.from = TM_FROM_OPERATION + (uint32_t)v;
        edge.kind = TM_EDGE_BEFORE;
        edge.flags = 0;
    } else if (!w->m->input->of_step || ns < 0)
        return true;
    return tm_builder_edge(w->m, tm_call_begin(w->m, c), &edge);
}

static bool add_call(host_walk *w, uint32_t c) {
    const tm_part_call *call = call_at(w, c);
    uint32_t source = source_of(w, c);
    if (source == TM_NO_PART ? !add_first(w, c) : !add_host(w, c, source))
        return false;
    w->threads[call->thread].last_call = c;
    return add_end(w, c);
}

/* Records that event i was launched before the current call. */
static void pass_event(host_walk *w, uint32_t i) {
    w->last_event[event_at(w, i)->stream] = i;
    w->latest_event = i;
}

bool tm_builder_calls(tm_builder *m) {
    size_t n_tracks = m->input->timeline->n_tracks;
    host_walk w = {
        .m = m,
        .events = m->input->events.data,
        .calls = m->input->calls.data,
        .last_event = calloc(n_tracks + 1, sizeof *w.last_event),
        .threads = calloc(n_tracks + 1, sizeof *w.threads),
        .latest_event = TM_NO_PART,
        .usual_names = TM_KEYS(uint32_t),
        .usual = TM_VEC(int64_t),
        .by_end = order_by_end(&m->input->calls, offsetof(tm_part_call, end_ns)),
        .of_cpu = tm_timeline_is_of_cpu(m->input->timeline),
    };
    bool ok = w.last_event && w.threads && w.by_end;
    for (size_t k = 0; k < n_tracks && ok; k++) {
        w.last_event[k] = TM_NO_PART;
        w.threads[k] = (thread){TM_NO_PART, m->input->timeline->tracks[k].first, INT64_MIN, 0};
    }
    for (size_t i = m->input->spans.n; i > 0 && ok; i--)
        w.threads[((const tm_part_span *)m->input->spans.data)[i - 1].thread].span = i - 1;
    uint32_t next = 0;
    for (uint32_t c = 0; c < m->input->calls.n && ok; c++) {
        for (; next < m->input->events.n; next++) {
            uint32_t call = event_at(&w, next)->call;
            int64_t launch =
                call == TM_NO_PART ? event_at(&w, next)->begin_ns : call_at(&w, call)->begin_ns;
            if (launch >= call_at(&w, c)->begin_ns)
                break;
            pass_event(&w, next);
        }
        ok = add_call(&w, c) && !w.failed;
    }
    free(w.last_event);
    free(w.threads);
    free(w.by_end);
    free(w.ended);
    free(w.ahead);
    tm_keys_free(&w.usual_names);
    tm_vec_free(&w.usual);
    return ok;
}
