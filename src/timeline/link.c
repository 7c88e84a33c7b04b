#include <stdlib.h>

#include "sort_events.h"
#include "trace.h"

/* The calls of a trace, sorted by correlation id. A program numbers its calls in order, so a search
 * usually ends near the result of the previous search. */
typedef struct calls {
    const tm_launch_attr *launches; /* borrowed */
    uint32_t *order;                /* [n] owned */
    size_t n;
    size_t at; /* position of the last call that was found */
} calls;

static int64_t correlation_at(const calls *c, size_t i) {
    return c->launches[c->order[i]].correlation;
}

static tm_status sort_calls(tm_trace *trace, calls *out, tm_error *err) {
    size_t n = trace->attrs[TM_ATTR_LAUNCH].n;
    uint32_t *scratch = malloc((n + 1) * sizeof *scratch);
    *out = (calls){.launches = trace->attrs[TM_ATTR_LAUNCH].data,
                   .order = malloc((n + 1) * sizeof *out->order),
                   .n = n};
    for (size_t i = 0; out->order && i < n; i++)
        out->order[i] = (uint32_t)i;
    bool ok = out->order && scratch && tm_sort_launches(trace, out->order, n, scratch);
    free(scratch);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the first position in [low, high) with this correlation id or a higher one; high if there
 * is none. */
static size_t first_from(const calls *c, size_t low, size_t high, int64_t correlation) {
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (correlation_at(c, middle) < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the first position of all calls with this correlation id or a higher one. Searches
 * exponentially from the last call that was found. */
static size_t seek(const calls *c, int64_t correlation) {
    size_t high = c->at, step = 1;
    if (high < c->n && correlation_at(c, high) < correlation) {
        size_t low = high;
        for (; step < c->n - low && correlation_at(c, low + step) < correlation; step *= 2)
            low += step;
        return first_from(c, low + 1, step < c->n - low ? low + step : c->n, correlation);
    }
    for (; step <= high && correlation_at(c, high - step) >= correlation; step *= 2)
        high -= step;
    return first_from(c, step <= high ? high - step + 1 : 0, high, correlation);
}

/* Returns the event of the call with this correlation id; TM_NO_EVENT if there is none. */
static uint32_t call_of(calls *c, int64_t correlation) {
    if (correlation == 0)
        return TM_NO_EVENT;
    c->at = seek(c, correlation);
    return c->at < c->n && correlation_at(c, c->at) == correlation
               ? c->launches[c->order[c->at]].event
               : TM_NO_EVENT;
}

/* Returns whether the id of the last call that was found also belongs to unrelated calls. A call
 * that starts inside the first one is related: it is a lower layer (runtime and driver), or another
 * thread's work for the same launch. */
static bool is_one_of_several(const tm_raw_event *events, const calls *c) {
    const tm_raw_event *first = &events[c->launches[c->order[c->at]].event];
    int64_t end = first->begin_ns + first->duration_ns;
    for (size_t i = c->at + 1; i < c->n && correlation_at(c, i) == correlation_at(c, c->at); i++)
        if (events[c->launches[c->order[i]].event].begin_ns >= end)
            return true;
    return false;
}

static void link_event(tm_trace *trace, calls *c, uint32_t event, int64_t correlation) {
    tm_raw_event *events = trace->events.data;
    uint32_t call = call_of(c, correlation);
    events[event].launch = call;
    trace->counts[TM_COUNT_UNLINKED] += call == TM_NO_EVENT;
    trace->counts[TM_COUNT_DUPLICATE_CORRELATION] +=
        call != TM_NO_EVENT && is_one_of_several(events, c);
}

/* Links a wait to the call that waits, and to the call that recorded the event. A stream waits only
 * for an event that was recorded before the waiting call. If the record is later, the profiler
 * wrote a wrong id, and the wait gets no record. */
static void link_wait(tm_trace *trace, calls *c, tm_wait_attr *wait) {
    const tm_raw_event *events = trace->events.data;
    wait->call = call_of(c, wait->correlation);
    wait->record = call_of(c, wait->record_correlation);
    trace->counts[TM_COUNT_UNKNOWN_RECORD] +=
        wait->kind == TM_WAIT_STREAM_WAIT && wait->on_stream < 0;
    if (wait->call == TM_NO_EVENT || wait->record == TM_NO_EVENT ||
        events[wait->record].begin_ns <= events[wait->call].begin_ns)
        return;
    wait->record = TM_NO_EVENT;
    trace->counts[TM_COUNT_LATER_RECORD]++;
}

static void link_all(tm_trace *trace, calls *c) {
    tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->events.n; i++)
        events[i].launch = TM_NO_EVENT;
    const tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_KERNEL].n; i++)
        link_event(trace, c, kernels[i].event, kernels[i].correlation);
    const tm_copy_attr *copies = trace->attrs[TM_ATTR_COPY].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_COPY].n; i++)
        link_event(trace, c, copies[i].event, copies[i].correlation);
    tm_wait_attr *waits = trace->attrs[TM_ATTR_WAIT].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_WAIT].n; i++)
        link_wait(trace, c, &waits[i]);
    const tm_handover *handovers = trace->handovers.data;
    for (size_t i = 0; i < trace->handovers.n; i++)
        events[handovers[i].call].launch = handovers[i].by;
}

tm_status tm_trace_link(tm_trace *trace, tm_error *err) {
    calls c;
    tm_status status = sort_calls(trace, &c, err);
    if (status == TM_OK)
        link_all(trace, &c);
    free(c.order);
    return status == TM_OK ? tm_trace_link_backward(trace, err) : status;
}
