#include "ascend_overlap.h"

#include <stdlib.h>

#include "base/intervals.h"
#include "base/sums.h"

/* Allowed difference per interval [ns], because the bounds of intervals are rounded. */
static const int64_t ROUNDING_NS = 10;

void tm_ascend_overlap_add(tm_ascend_overlap *overlap, const tm_json_text *name,
                           int64_t duration_ns) {
    static const char *const words[TM_ASCEND_N_PARTS] = {
        [TM_ASCEND_COMPUTING] = "Computing",
        [TM_ASCEND_COMMUNICATION] = "Communication",
        [TM_ASCEND_EXPOSED] = "Communication(Not Overlapped)",
        [TM_ASCEND_FREE] = "Free",
    };
    for (int i = 0; i < TM_ASCEND_N_PARTS; i++)
        if (tm_json_is(name, words[i])) {
            overlap->n[i]++;
            overlap->sum_ns[i] = tm_sum(overlap->sum_ns[i], duration_ns);
        }
}

static bool collect(const tm_trace *trace, tm_intervals *compute, tm_intervals *communication) {
    const tm_raw_event *events = trace->events.data;
    const tm_collective_attr *collectives = trace->attrs[TM_ATTR_COLLECTIVE].data;
    size_t next = 0;
    for (size_t i = 0; i < trace->events.n; i++) {
        if (events[i].category != TM_CAT_KERNEL)
            continue;
        while (next < trace->attrs[TM_ATTR_COLLECTIVE].n && collectives[next].event < i)
            next++;
        bool communicates =
            next < trace->attrs[TM_ATTR_COLLECTIVE].n && collectives[next].event == i;
        if (!tm_intervals_add(communicates ? communication : compute, events[i].begin_ns,
                              events[i].begin_ns + events[i].duration_ns))
            return false;
    }
    tm_intervals_normalise(compute);
    tm_intervals_normalise(communication);
    return true;
}

static void set(tm_ascend_overlap *overlap, tm_ascend_part part, const tm_intervals *intervals) {
    overlap->n[part] = (int64_t)intervals->n;
    overlap->sum_ns[part] = tm_intervals_length(intervals);
}

bool tm_ascend_overlap_of(const tm_trace *trace, tm_ascend_overlap *out) {
    tm_intervals compute = TM_INTERVALS(), communication = TM_INTERVALS();
    tm_intervals exposed = TM_INTERVALS(), all = TM_INTERVALS();
    *out = (tm_ascend_overlap){0};
    bool ok = collect(trace, &compute, &communication) &&
              tm_intervals_subtract(&communication, &compute, &exposed) &&
              tm_intervals_unite(&communication, &compute, &all);
    if (ok) {
        const tm_interval *busy = all.data;
        set(out, TM_ASCEND_COMPUTING, &compute);
        set(out, TM_ASCEND_COMMUNICATION, &communication);
        set(out, TM_ASCEND_EXPOSED, &exposed);
        /* The free time is between the first start and the last end. */
        if (all.n > 0) {
            out->n[TM_ASCEND_FREE] = (int64_t)all.n - 1;
            out->sum_ns[TM_ASCEND_FREE] =
                busy[all.n - 1].end_ns - busy[0].begin_ns - tm_intervals_length(&all);
        }
    }
    TM_VECS_FREE(&compute, &communication, &exposed, &all);
    return ok;
}

int tm_ascend_overlap_differ(const tm_ascend_overlap *vendor, const tm_ascend_overlap *own) {
    int n = 0;
    for (int i = 0; i < TM_ASCEND_N_PARTS; i++)
        n += vendor->n[i] > 0 &&
             llabs(vendor->sum_ns[i] - own->sum_ns[i]) > ROUNDING_NS * vendor->n[i];
    return n;
}
