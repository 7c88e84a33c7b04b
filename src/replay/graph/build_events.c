/* Adds the edges into the starts and ends of GPU events. */
#include "maker.h"

#include <stdlib.h>

#include "base/median.h"

/* If the trace lacks the rank's kernel of an operation, an event may have waited for that kernel.
 * The event counts as having waited if more than MISSING_LAG_NS before its start are unexplained,
 * and if the operation's other members ended at most MISSING_BEHIND_NS before its start. */
static const int64_t MISSING_LAG_NS = 20000, MISSING_BEHIND_NS = 20000;
/* Usual lags. LAUNCH_NS: from a launch to its event. GAP_NS: between two events of a stream.
 * WAIT_NS: from the end of a wait to the event. The first two are used only if the trace has no
 * events from which they can be measured. */
static const int64_t LAUNCH_NS = 6000, GAP_NS = 1000, WAIT_NS = 2000;
/* If the lag from the end of a launch to its event is longer than this, it counts as this long.
 * Otherwise, the usual lag would be too long in traces in which most lags are long, as on a GPU
 * that is shared with another process. (On rank 0 of the sample trace megatron2, it would be 2.3
 * ms.) */
static const int64_t LATE_NS = 100000;
/* If a gap of a stream is longer than this, it counts as this long, because the kernels may have
 * waited for another process. In the sample traces, the medians are 0 to 2 us. (The exception is
 * hta2, which lacks kernels.) */
static const int64_t LATE_GAP_NS = 10000;
/* A gap is measured only if the event after it was launched at least this long before the gap
 * began. Such an event did not wait for its launch. */
static const int64_t EARLY_NS = 20000;

/* Measures launch_ns and gap_ns. Leaves out events that waited for other streams, and
 * communication, which depends on other ranks. */
static bool measure_lags(tm_maker *m) {
    const tm_part_wait *waits = m->waits->data;
    size_t next_wait = 0;
    const tm_part_event *events = m->draft->events.data;
    const tm_part_call *calls = m->draft->calls.data;
    int64_t *launches = malloc((m->draft->events.n + 1) * sizeof *launches);
    int64_t *gaps = malloc((m->draft->events.n + 1) * sizeof *gaps);
    size_t n_launches = 0, n_gaps = 0;
    const bool ok = launches && gaps;
    for (size_t i = 0; i < m->draft->events.n && ok; i++) {
        const tm_part_event *e = &events[i];
        bool communicates = m->draft->timeline->role[e->row] == TM_ROLE_COMMUNICATION;
        bool waited = next_wait < m->waits->n && waits[next_wait].event == i;
        while (next_wait < m->waits->n && waits[next_wait].event == i)
            next_wait++;
        if (e->call == TM_NO_PART || communicates || waited)
            continue;
        const tm_part_event *before = e->before == TM_NO_PART ? NULL : &events[e->before];
        int64_t launch = calls[e->call].begin_ns, launched = calls[e->call].end_ns;
        int64_t lag = e->begin_ns - launch, latest = launched - launch + LATE_NS;
        int64_t gap = before ? e->begin_ns - before->end_ns : 0;
        if ((!before || before->end_ns <= launch) && lag >= 0)
            launches[n_launches++] = lag < latest ? lag : latest;
        if (before && before->end_ns > launch + EARLY_NS && gap >= 0 &&
            (before->end_ns >= launched || e->begin_ns < launched))
            gaps[n_gaps++] = gap < LATE_GAP_NS ? gap : LATE_GAP_NS;
    }
    m->launch_ns = n_launches > 0 ? tm_median_any(launches, n_launches) : LAUNCH_NS;
    m->gap_ns = n_gaps > 0 ? tm_median_any(gaps, n_gaps) : GAP_NS;
    free(launches);
    free(gaps);
    return ok;
}

static uint8_t work_of(const tm_maker *m, const tm_part_event *e) {
    uint8_t role = m->draft->timeline->role[e->row];
    return role == TM_ROLE_COMPUTE         ? TM_EDGE_COMPUTE
           : role == TM_ROLE_COMMUNICATION ? TM_EDGE_COMM
                                           : TM_EDGE_COPY;
}

/* Returns the index of the first participation whose event is @p row or later. */
static size_t first_visit(const tm_maker *m, uint32_t row) {
    size_t low = 0, high = m->n_visits;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->visits[middle].event < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tm_maker_end(tm_maker *m, uint32_t u, int64_t ns, int64_t usual_ns, uint8_t kind) {
    const tm_part_event *source = (const tm_part_event *)m->draft->events.data + u;
    tm_cause cause = {tm_event_end(u), source->end_ns, usual_ns, kind};
    if (source->end_ns > ns || (source->end_ns == ns && source->begin_ns == ns)) {
        uint8_t work = work_of(m, source);
        size_t v = work == TM_EDGE_COMM ? first_visit(m, source->row) : m->n_visits;
        cause = (tm_cause){tm_event_begin(u), source->begin_ns, 0, work};
        if (v < m->n_visits && m->visits[v].event == source->row) {
            cause.from = TM_FROM_VISIT + (uint32_t)v;
            cause.from_ns = m->visits[v].last_ns;
            cause.kind = source->end_ns - ns <= TM_PAIR_SLACK_NS ? TM_EDGE_TRANSFER : kind;
        }
        cause.usual_ns = ns - cause.from_ns;
    }
    return cause.from_ns > ns || tm_maker_cause(m, &cause);
}

/* If the start of an event is unexplained, adds as causes the operations that ended shortly before
 * it and that lack the rank's kernel. */
static bool add_missing(tm_maker *m, int64_t ns) {
    size_t v = m->n_named, behind = m->n_visits;
    if (v == behind || tm_maker_lag(m, ns) <= MISSING_LAG_NS)
        return true;
    while (v < behind) { /* finds the first operation that did not end too early */
        size_t middle = v + (behind - v) / 2;
        if (m->visits[middle].end_ns < ns - MISSING_BEHIND_NS)
            v = middle + 1;
        else
            behind = middle;
    }
    for (; v < m->n_visits && m->visits[v].end_ns <= ns; v++) {
        const tm_replay_visit *visit = &m->visits[v];
        const tm_cause cause = {TM_FROM_VISIT + (uint32_t)v, visit->last_ns,
                                visit->end_ns - visit->last_ns + WAIT_NS, TM_EDGE_WAIT};
        if (!tm_maker_cause(m, &cause))
            return false;
    }
    return true;
}

/* Returns whether an event can have only the two usual causes: the previous event on its stream,
 * and the call that launched it. */
static bool is_usual(const tm_maker *m, const tm_part_event *e) {
    const tm_part_event *events = m->draft->events.data;
    const tm_part_call *calls = m->draft->calls.data;
    return e->before != TM_NO_PART && events[e->before].end_ns < e->begin_ns &&
           e->call != TM_NO_PART && calls[e->call].begin_ns <= e->begin_ns &&
           m->n_named == m->n_visits;
}

static bool add_usual(tm_maker *m, uint32_t i) {
    const tm_part_event *events = m->draft->events.data, *e = &events[i];
    const tm_part_call *calls = m->draft->calls.data;
    const tm_cause causes[] = {
        {tm_event_end(e->before), events[e->before].end_ns, m->gap_ns, TM_EDGE_GAP},
        {tm_call_begin(m, e->call), calls[e->call].begin_ns, m->launch_ns, TM_EDGE_LAUNCH}};
    return tm_maker_lead(m, tm_event_begin(i), e->begin_ns, causes, 2);
}

static bool add_begin(tm_maker *m, uint32_t i, size_t *next_wait) {
    const tm_part_event *e = (const tm_part_event *)m->draft->events.data + i;
    const tm_part_wait *waits = m->waits->data;
    if ((*next_wait == m->waits->n || waits[*next_wait].event != i) && is_usual(m, e))
        return add_usual(m, i);
    for (; *next_wait < m->waits->n && waits[*next_wait].event == i; ++*next_wait)
        if (!tm_maker_end(m, waits[*next_wait].source, e->begin_ns, WAIT_NS, TM_EDGE_WAIT))
            return false;
    if (e->before != TM_NO_PART && !tm_maker_end(m, e->before, e->begin_ns, m->gap_ns, TM_EDGE_GAP))
        return false;
    if (e->call != TM_NO_PART) {
        const tm_part_call *call = (const tm_part_call *)m->draft->calls.data + e->call;
        const tm_cause cause = {tm_call_begin(m, e->call), call->begin_ns, m->launch_ns,
                                TM_EDGE_LAUNCH};
        if (call->begin_ns <= e->begin_ns && !tm_maker_cause(m, &cause))
            return false;
    }
    return add_missing(m, e->begin_ns) && tm_maker_settle(m, tm_event_begin(i), e->begin_ns);
}

/* Adds the edges into the end of an event. If the event is part of operations, there is an edge
 * from each operation. Otherwise, there is one edge from the event's start. */
static bool add_work(tm_maker *m, uint32_t i, const tm_replay_visit *visits, size_t n) {
    const tm_part_event *e = (const tm_part_event *)m->draft->events.data + i;
    bool led = false;
    for (size_t v = 0; v < n; v++) {
        const tm_new_edge edge = {.ns = e->end_ns - visits[v].last_ns,
                                  .peer_ns = visits[v].usual_ns,
                                  .from = TM_FROM_VISIT + (uint32_t)(&visits[v] - m->visits),
                                  .kind = TM_EDGE_TRANSFER};
        if (edge.ns < 0)
            continue;
        led = true;
        if (!tm_maker_edge(m, tm_event_end(i), &edge))
            return false;
    }
    if (led)
        return true;
    uint8_t work = work_of(m, e);
    const tm_new_edge edge = {.ns = e->end_ns - e->begin_ns,
                              .peer_ns = e->end_ns - e->begin_ns,
                              .from = tm_event_begin(i),
                              .kind = work};
    return tm_maker_edge(m, tm_event_end(i), &edge);
}

bool tm_maker_events(tm_maker *m) {
    const tm_part_event *events = m->draft->events.data;
    size_t next_wait = 0;
    bool ok = measure_lags(m);
    m->n_named = first_visit(m, TM_NO_EVENT);
    for (uint32_t i = 0; i < m->draft->events.n && ok; i++) {
        size_t v = 0, n = 0;
        if (m->draft->timeline->role[events[i].row] == TM_ROLE_COMMUNICATION) {
            v = first_visit(m, events[i].row);
            while (v + n < m->n_visits && m->visits[v + n].event == events[i].row)
                n++;
        }
        ok = add_begin(m, i, &next_wait) && add_work(m, i, m->visits + v, n);
    }
    return ok;
}
