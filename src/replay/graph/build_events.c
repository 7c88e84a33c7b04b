/* Adds the edges into the starts and ends of GPU events. */
#include "builder.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

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
static bool measure_lags(tm_builder *m) {
    const tm_part_wait *waits = m->waits->data;
    size_t next_wait = 0;
    const tm_part_event *events = m->input->events.data;
    const tm_part_call *calls = m->input->calls.data;
    int64_t *launches = malloc((m->input->events.n + 1) * sizeof *launches);
    int64_t *gaps = malloc((m->input->events.n + 1) * sizeof *gaps);
    size_t n_launches = 0, n_gaps = 0;
    const bool ok = launches && gaps;
    for (size_t i = 0; i < m->input->events.n && ok; i++) {
        const tm_part_event *e = &events[i];
        bool communicates = m->input->timeline->role[e->row] == TM_ROLE_COMMUNICATION;
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

static uint8_t work_of(const tm_builder *m, const tm_part_event *e) {
    uint8_t role = m->input->timeline->role[e->row];
    return role == TM_ROLE_COMPUTE         ? TM_EDGE_COMPUTE
           : role == TM_ROLE_COMMUNICATION ? TM_EDGE_COMM
                                           : TM_EDGE_COPY;
}

/* Returns the index of the first participation whose event is @p row or later. */
static size_t first_participant(const tm_builder *m, uint32_t row) {
    size_t low = 0, high = m->n_participants;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->participants[middle].event < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tm_builder_end(tm_builder *m, uint32_t u, int64_t ns, int64_t usual_ns, uint8_t kind) {
    const tm_part_event *source = (const tm_part_event *)m->input->events.data + u;
    tm_cause cause = {tm_event_end(u), source->end_ns, usual_ns, kind};
    if (source->end_ns > ns || (source->end_ns == ns && source->begin_ns == ns)) {
        uint8_t work = work_of(m, source);
        size_t v = work == TM_EDGE_COMM ? first_participant(m, source->row) : m->n_participants;
        cause = (tm_cause){tm_event_begin(u), source->begin_ns, 0, work};
        if (v < m->n_participants && m->participants[v].event == source->row) {
            cause.from = TM_FROM_OPERATION + (uint32_t)v;
            cause.from_ns = m->participants[v].last_ns;
            cause.kind = source->end_ns - ns <= TM_PAIR_SLACK_NS ? TM_EDGE_TRANSFER : kind;
        }
        cause.usual_ns = ns - cause.from_ns;
    }
    return cause.from_ns > ns || tm_builder_cause(m, &cause);
}

/* If the start of an event is unexplained, adds as causes the operations that ended shortly before
 * it and that lack the rank's kernel. */
static bool add_missing(tm_builder *m, int64_t ns) {
    size_t v = m->n_named;
    if (v == m->n_participants || tm_builder_lag(m, ns) <= MISSING_LAG_NS)
        return true;
    /* the first operation that did not end too early */
    v += TM_FIRST_FROM(tm_replay_participant, end_ns, m->participants + v, m->n_participants - v,
                       ns - MISSING_BEHIND_NS);
    for (; v < m->n_participants && m->participants[v].end_ns <= ns; v++) {
        const tm_replay_participant *participant = &m->participants[v];
        const tm_cause cause = {TM_FROM_OPERATION + (uint32_t)v, participant->last_ns,
                                participant->end_ns - participant->last_ns + WAIT_NS, TM_EDGE_WAIT};
        if (!tm_builder_cause(m, &cause))
            return false;
    }
    return true;
}

/* Returns whether an event can have only the two usual causes: the previous event on its stream,
 * and the call that launched it. */
static bool is_usual(const tm_builder *m, const tm_part_event *e) {
    const tm_part_event *events = m->input->events.data;
    const tm_part_call *calls = m->input->calls.data;
    return e->before != TM_NO_PART && events[e->before].end_ns < e->begin_ns &&
           e->call != TM_NO_PART && calls[e->call].begin_ns <= e->begin_ns &&
           m->n_named == m->n_participants;
}

static bool add_usual(tm_builder *m, uint32_t i) {
    const tm_part_event *events = m->input->events.data, *e = &events[i];
    const tm_part_call *calls = m->input->calls.data;
    const tm_cause causes[] = {
        {tm_event_end(e->before), events[e->before].end_ns, m->gap_ns, TM_EDGE_GAP},
        {tm_call_begin(m, e->call), calls[e->call].begin_ns, m->launch_ns, TM_EDGE_LAUNCH}};
    return tm_builder_lead(m, tm_event_begin(i), e->begin_ns, causes, 2);
}

static bool add_begin(tm_builder *m, uint32_t i, size_t *next_wait) {
    const tm_part_event *e = (const tm_part_event *)m->input->events.data + i;
    const tm_part_wait *waits = m->waits->data;
    if ((*next_wait == m->waits->n || waits[*next_wait].event != i) && is_usual(m, e))
        return add_usual(m, i);
    for (; *next_wait < m->waits->n && waits[*next_wait].event == i; ++*next_wait)
        if (!tm_builder_end(m, waits[*next_wait].source, e->begin_ns, WAIT_NS, TM_EDGE_WAIT))
            return false;
    if (e->before != TM_NO_PART &&
        !tm_builder_end(m, e->before, e->begin_ns, m->gap_ns, TM_EDGE_GAP))
        return false;
    if (e->call != TM_NO_PART) {
        const tm_part_call *call = (const tm_part_call *)m->input->calls.data + e->call;
        const tm_cause cause = {tm_call_begin(m, e->call), call->begin_ns, m->launch_ns,
                                TM_EDGE_LAUNCH};
        if (call->begin_ns <= e->begin_ns && !tm_builder_cause(m, &cause))
            return false;
    }
    return add_missing(m, e->begin_ns) && tm_builder_settle(m, tm_event_begin(i), e->begin_ns);
}

/* Adds the edges into the end of an event. If the event is part of operations, there is an edge
 * from each operation. Otherwise, there is one edge from the event's start. */
static bool add_work(tm_builder *m, uint32_t i, const tm_replay_participant *participants,
                     size_t n) {
    const tm_part_event *e = (const tm_part_event *)m->input->events.data + i;
    bool led = false;
    for (size_t v = 0; v < n; v++) {
        const tm_new_edge edge = {.ns = e->end_ns - participants[v].last_ns,
                                  .peer_ns = participants[v].usual_ns,
                                  .from = TM_FROM_OPERATION +
                                          (uint32_t)(&participants[v] - m->participants),
                                  .kind = TM_EDGE_TRANSFER};
        if (edge.ns < 0)
            continue;
        led = true;
        if (!tm_builder_edge(m, tm_event_end(i), &edge))
            return false;
    }
    if (led)
        return true;
    uint8_t work = work_of(m, e);
    const tm_new_edge edge = {.ns = e->end_ns - e->begin_ns,
                              .peer_ns = e->end_ns - e->begin_ns,
                              .from = tm_event_begin(i),
                              .kind = work};
    return tm_builder_edge(m, tm_event_end(i), &edge);
}

bool tm_builder_events(tm_builder *m) {
    const tm_part_event *events = m->input->events.data;
    size_t next_wait = 0;
    bool ok = measure_lags(m);
    m->n_named = first_participant(m, TM_NO_EVENT);
    for (uint32_t i = 0; i < m->input->events.n && ok; i++) {
        size_t v = 0, n = 0;
        if (m->input->timeline->role[events[i].row] == TM_ROLE_COMMUNICATION) {
            v = first_participant(m, events[i].row);
            while (v + n < m->n_participants && m->participants[v + n].event == events[i].row)
                n++;
        }
        ok = add_begin(m, i, &next_wait) && add_work(m, i, m->participants + v, n);
    }
    return ok;
}
