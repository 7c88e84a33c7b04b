/* Removes events whose time the profiler did not know.
 *
 * Profilers write special values for unknown times. According to its documentation, CUPTI gives 0
 * for both ends of a kernel whose times could not be collected, which PyTorch 2.12 writes as "ts":
 * 0.000, "dur": 0.000. Other profilers write -1. A device clock that was never set counts from its
 * start. If such a value were taken as a time, the recording would seem to last for decades. But a
 * clock may really start at 0. So an event with such a time is removed only if it is isolated
 * (is_alone).
 *
 * A kernel cannot start long after its launch if nothing else was recorded meanwhile: the profiler
 * would have stopped. Such a start is damaged, and the recording would seem to last for hours.
 *
 * Other events have a start but no end, written as a duration of 0. With a coarse clock, short
 * kernels also have a duration of 0: PyTorch traces until 2022 have whole microseconds, and on TPUs
 * a nanosecond is long. But then other events have durations of one or a few ticks. */
#include "trace.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

/* No recording lasts a year, and no relative clock starts more than three months before the
 * recording (Kineto's base time). So an event that is a year away from the others has another
 * clock, or no time. */
#define YEAR_NS (366 * TM_DAY_NS)

/* An event at the clock's zero is isolated if the other events begin later by more than ALONE_NS
 * and by more than ALONE_TIMES times their span. No pause in a recording is so long. */
#define ALONE_NS INT64_C(1000000000)
enum { ALONE_TIMES = 10 };

/* GPU work is too late if it starts after everything else by more than ALONE_NS and by more than
 * ALONE_TIMES times the span of everything else. If its launch was recorded, its time is unknown.
 * But if more than 1 / LOST_PART of the GPU work is too late, the GPU has another clock. */
enum { LOST_PART = 8 };

/* A GPU event can start before its launch by less than this: GPU clocks are wrong by microseconds
 * only. */
#define EARLY_NS INT64_C(1000000)

/* TELLING: minimum number of durations that is needed to determine the tick of a clock. FEW_TICKS:
 * a duration of up to this many ticks is short. */
enum { TELLING = 16, FEW_TICKS = 16 };

/* Times of a trace's events. */
typedef struct extent {
    int64_t zero_ns;           /* zero of the trace's clock */
    int64_t median_ns;         /* median of the starts after the zero */
    int64_t usual_ns;          /* time near which most events are */
    int64_t first_ns, last_ns; /* first and last start of events that are not in doubt */
    int64_t first_work_ns;     /* first start of GPU work that is not in doubt; INT64_MAX: there is
                                  none */
    size_t n_work;             /* number of kernels, copies and sets */
    int64_t late_ns;           /* GPU work from this time on is too late; INT64_MAX: none is */
    bool lost;                 /* the time of this work is unknown: there is little of it */
    bool no_ends;              /* true: a duration of 0 in GPU work means that the end is unknown */
} extent;

static bool is_work(const tm_raw_event *e) {
    return e->category == TM_CAT_KERNEL || e->category == TM_CAT_MEMCPY ||
           e->category == TM_CAT_MEMSET;
}

static bool is_far(const extent *x, int64_t begin_ns) {
    return begin_ns > x->usual_ns + YEAR_NS || begin_ns < x->usual_ns - YEAR_NS;
}

/* Finds the usual time of the events from a sample: up to 127 starts after the clock's zero, evenly
 * spread over the file. If events have two clocks, the later one counts from the epoch, and is
 * right if at least an eighth of the events have it. Returns false if nothing starts after zero. */
static bool find_usual(const tm_trace *trace, extent *x) {
    enum { SAMPLES = 127 };
    int64_t sample[SAMPLES];
    const tm_raw_event *events = trace->events.data;
    size_t n = trace->events.n, step = n / SAMPLES + 1, found = 0;
    for (size_t i = 0; i < n && found < SAMPLES; i += step) {
        while (i < n && events[i].begin_ns <= x->zero_ns)
            i++;
        if (i < n)
            sample[found++] = events[i].begin_ns;
    }
    if (found == 0)
        return false;
    x->median_ns = tm_select(sample, found, found / 2);
    x->usual_ns = tm_select(sample, found, found - 1 - found / 8);
    return true;
}

static bool has_no_duration(const tm_raw_event *e) {
    return e->duration_ns == 0 && e->kind == TM_DURATION && is_work(e);
}

/* Returns the longest time that divides all durations; 0 if there are too few durations. */
static int64_t find_tick(const tm_trace *trace, bool of_work) {
    const tm_raw_event *events = trace->events.data;
    int64_t tick = 0, n = 0;
    for (size_t i = 0; i < trace->events.n; i++) {
        int64_t rest = of_work && !is_work(&events[i]) ? 0 : events[i].duration_ns;
        n += rest > 0;
        while (rest > 0) {
            int64_t divisor = rest;
            rest = tick % divisor;
            tick = divisor;
        }
    }
    return n >= TELLING ? tick : 0;
}

/* Returns whether a duration of 0 in GPU work means that the end is unknown. If such work were just
 * short, other work would have durations of a few ticks. If hardly any work has a duration, the
 * tick of host events is used. In that case, the tick must be small, or there must be so much work
 * without a duration that it cannot all be short. */
static bool lack_ends(const tm_trace *trace, int64_t n_zero) {
    const int64_t shortest_ns = 500; /* every GPU kernel or copy takes longer than this */
    const tm_raw_event *events = trace->events.data;
    int64_t tick = find_tick(trace, true), n_few = 0;
    if (tick == 0) {
        tick = find_tick(trace, false);
        if (n_zero < TELLING && (tick == 0 || tick > shortest_ns / FEW_TICKS))
            return false;
    }
    for (size_t i = 0; i < trace->events.n; i++)
        n_few += is_work(&events[i]) && events[i].duration_ns > 0 &&
                 events[i].duration_ns <= FEW_TICKS * tick;
    return n_zero > 8 * n_few;
}

static int by_begin(const void *a, const void *b) {
    const tm_raw_event *x = *(const tm_raw_event *const *)a, *y = *(const tm_raw_event *const *)b;
    return tm_order_i64(x->begin_ns, y->begin_ns);
}

/* Lists the GPU work that starts after the last event of the host, ascending. Sets *reach_ns to the
 * end of everything else. Returns false when out of memory. */
static bool list_late(const tm_trace *trace, const extent *x, tm_vec *late, int64_t *reach_ns) {
    const tm_raw_event *events = trace->events.data;
    int64_t host_end_ns = INT64_MIN;
    bool ok = true;
    for (int work = 0; work < 2; work++)
        for (size_t i = 0; i < trace->events.n && ok; i++) {
            const tm_raw_event *e = &events[i];
            const int64_t end_ns = e->begin_ns + e->duration_ns;
            if (is_far(x, e->begin_ns) || is_work(e) != (work == 1))
                continue;
            if (work && e->begin_ns > host_end_ns)
                ok = tm_vec_append(late, &e, 1);
            else if (end_ns > *reach_ns)
                *reach_ns = end_ns;
            host_end_ns = work ? host_end_ns : *reach_ns;
        }
    if (late->n > 1)
        qsort(late->data, late->n, late->size, by_begin);
    return ok;
}

/* Sets `late_ns` and `lost`. Work after the last event of the host is not too late as long as no
 * gap in it is too long. */
static bool find_late(const tm_trace *trace, extent *x) {
    tm_vec late = TM_VEC(const tm_raw_event *);
    int64_t reach_ns = INT64_MIN;
    const bool ok = list_late(trace, x, &late, &reach_ns);
    const tm_raw_event *const *v = late.data;
    for (size_t i = 0; i < late.n && reach_ns != INT64_MIN && x->late_ns == INT64_MAX && ok; i++) {
        const int64_t end_ns = v[i]->begin_ns + v[i]->duration_ns;
        const int64_t gap_ns = v[i]->begin_ns - reach_ns;
        if (gap_ns > ALONE_NS && gap_ns / ALONE_TIMES > reach_ns - x->first_ns) {
            x->late_ns = v[i]->begin_ns;
            x->lost = late.n - i <= x->n_work / LOST_PART;
        }
        reach_ns = end_ns > reach_ns ? end_ns : reach_ns;
    }
    tm_vec_free(&late);
    return ok;
}

/* Returns whether any event is in doubt. Must be fast, because it looks at all events. */
static bool any_in_doubt(const tm_trace *trace, extent *x) {
    const tm_raw_event *events = trace->events.data;
    int64_t least = INT64_MAX, most = INT64_MIN, n_zero = 0, host_end_ns = INT64_MIN;
    for (size_t i = 0; i < trace->events.n; i++) {
        int64_t begin = events[i].begin_ns;
        least = begin < least ? begin : least;
        most = begin > most ? begin : most;
        n_zero += has_no_duration(&events[i]);
        const int64_t end_ns = begin + events[i].duration_ns;
        if (end_ns > host_end_ns && !tm_event_is_of_device(&events[i]))
            host_end_ns = end_ns;
    }
    x->no_ends = n_zero > 0 && lack_ends(trace, n_zero);
    /* the difference is unsigned, because it may exceed INT64_MAX */
    const bool late = host_end_ns != INT64_MIN && most > host_end_ns &&
                      (uint64_t)most - (uint64_t)host_end_ns > ALONE_NS;
    return x->no_ends || late || least <= x->zero_ns || least < x->median_ns - TM_DAY_NS ||
           most > x->median_ns + TM_DAY_NS;
}

static void find_extent(const tm_trace *trace, extent *x) {
    const tm_raw_event *events = trace->events.data;
    x->first_ns = x->first_work_ns = INT64_MAX;
    x->last_ns = INT64_MIN;
    for (size_t i = 0; i < trace->events.n; i++) {
        int64_t begin = events[i].begin_ns;
        x->n_work += is_work(&events[i]);
        if (begin <= x->zero_ns || is_far(x, begin))
            continue;
        x->first_ns = begin < x->first_ns ? begin : x->first_ns;
        x->last_ns = begin > x->last_ns ? begin : x->last_ns;
        if (is_work(&events[i]) && begin < x->first_work_ns)
            x->first_work_ns = begin;
    }
}

/* Returns whether a start stands for an unknown time: 0, or -1 in nanoseconds or microseconds. */
static bool is_written_for_none(const extent *x, int64_t begin_ns) {
    int64_t written = begin_ns - x->zero_ns;
    return written == 0 || written == -1 || written == -1000;
}

/* Returns whether an event at or before the clock's zero is isolated. GPU work with a start that
 * stands for an unknown time is isolated if it starts before its launch. If its launch is unknown
 * and it has no duration, it is isolated if no other work is near. */
static bool is_alone(const tm_trace *trace, const extent *x, const tm_raw_event *e) {
    const tm_raw_event *events = trace->events.data;
    int64_t end = e->begin_ns + e->duration_ns;
    int64_t later = x->first_ns - end, lasted = x->last_ns - x->first_ns;
    if (later > ALONE_NS && later / ALONE_TIMES > lasted)
        return true;
    if (!is_work(e) || !is_written_for_none(x, e->begin_ns))
        return false;
    if (e->launch != TM_NO_EVENT)
        return events[e->launch].begin_ns > e->begin_ns + EARLY_NS;
    return e->duration_ns == 0 && x->first_work_ns != INT64_MAX &&
           x->first_work_ns > e->begin_ns + EARLY_NS;
}

static bool is_late(const extent *x, const tm_raw_event *e) {
    return e->begin_ns >= x->late_ns && is_work(e);
}

static bool is_unknown(const tm_trace *trace, const extent *x, const tm_raw_event *e) {
    const bool lost = x->lost && is_late(x, e) && e->launch != TM_NO_EVENT;
    return lost || is_far(x, e->begin_ns) || (x->no_ends && has_no_duration(e)) ||
           (e->begin_ns <= x->zero_ns && is_alone(trace, x, e));
}

/* Returns the new index of each event, or TM_NO_EVENT for an event that is to be removed. Counts
 * the events to remove. Returns NULL if out of memory. */
static uint32_t *number_kept(tm_trace *trace, const extent *x, size_t *n_kept) {
    const tm_raw_event *events = trace->events.data;
    uint32_t *row_of = malloc((trace->events.n + 1) * sizeof *row_of);
    *n_kept = 0;
    for (size_t i = 0; row_of && i < trace->events.n; i++) {
        const tm_raw_event *e = &events[i];
        bool unknown = is_unknown(trace, x, e);
        row_of[i] = unknown ? TM_NO_EVENT : (uint32_t)(*n_kept)++;
        trace->counts[is_work(e) ? TM_COUNT_UNKNOWN_WORK_TIME : TM_COUNT_UNKNOWN_TIME] += unknown;
        trace->counts[TM_COUNT_ZERO_TIME] -=
            unknown && e->begin_ns == x->zero_ns && trace->counts[TM_COUNT_ZERO_TIME] > 0;
        trace->counts[TM_COUNT_FAR_TIME] +=
            !unknown && (is_late(x, e) || e->begin_ns > x->median_ns + TM_DAY_NS ||
                         e->begin_ns < x->median_ns - TM_DAY_NS);
    }
    return row_of;
}

static void keep_events(tm_trace *trace, const uint32_t *row_of) {
    tm_raw_event *events = trace->events.data;
    size_t kept = 0;
    for (size_t i = 0; i < trace->events.n; i++) {
        if (row_of[i] == TM_NO_EVENT)
            continue;
        events[kept] = events[i];
        if (events[kept].launch != TM_NO_EVENT)
            events[kept].launch = row_of[events[kept].launch];
        kept++;
    }
    trace->events.n = kept;
}

/* Removes the attribute rows of removed events. In other rows, references to removed events become
 * TM_NO_EVENT. */
static void keep_attrs(tm_trace *trace, tm_attr attr, const uint32_t *row_of) {
    tm_vec *rows = &trace->attrs[attr];
    size_t kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        char *row = (char *)rows->data + i * rows->size;
        if (row_of[*tm_attr_event(attr, row)] == TM_NO_EVENT)
            continue;
        for (int r = 0; r < tm_attr_n_refs(attr); r++) {
            uint32_t *ref = tm_attr_ref(attr, row, r);
            *ref = *ref == TM_NO_EVENT ? TM_NO_EVENT : row_of[*ref];
        }
        memmove((char *)rows->data + kept++ * rows->size, row, rows->size);
    }
    rows->n = kept;
}

/* Applies the new indices, and frees them. */
static tm_status keep(tm_trace *trace, uint32_t *row_of, size_t n_kept, tm_error *err) {
    if (!row_of)
        return tm_fail_memory(err);
    if (n_kept < trace->events.n) {
        for (int a = 0; a < TM_N_ATTRS; a++)
            keep_attrs(trace, (tm_attr)a, row_of);
        keep_events(trace, row_of);
    }
    free(row_of);
    return TM_OK;
}

tm_status tm_trace_drop_unknown(tm_trace *trace, tm_error *err) {
    extent x = {.zero_ns = trace->base_ns > 0 ? trace->base_ns : 0, .late_ns = INT64_MAX};
    size_t n_kept;
    if (!find_usual(trace, &x) || !any_in_doubt(trace, &x))
        return TM_OK;
    find_extent(trace, &x);
    if (!find_late(trace, &x))
        return tm_fail_memory(err);
    uint32_t *row_of = number_kept(trace, &x, &n_kept);
    return keep(trace, row_of, n_kept, err);
}

tm_status tm_trace_drop_endless(tm_trace *trace, int64_t end_ns, tm_error *err) {
    const tm_raw_event *events = trace->events.data;
    uint32_t *row_of = malloc((trace->events.n + 1) * sizeof *row_of);
    size_t n_kept = 0;
    for (size_t i = 0; row_of && i < trace->events.n; i++) {
        const tm_raw_event *e = &events[i];
        const bool endless = tm_event_is_of_device(e) && e->begin_ns + e->duration_ns > end_ns;
        row_of[i] = endless ? TM_NO_EVENT : (uint32_t)n_kept++;
        trace->counts[is_work(e) ? TM_COUNT_UNKNOWN_WORK_TIME : TM_COUNT_UNKNOWN_TIME] += endless;
    }
    return keep(trace, row_of, n_kept, err);
}
