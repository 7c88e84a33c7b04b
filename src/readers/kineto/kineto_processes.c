#include "kineto_processes.h"

#include <stdlib.h>

#include "base/sorted.h"

/* Two processes may share a few ids by chance. */
enum { SHARED_MAX = 8 };

typedef struct call {
    int64_t correlation;
    uint32_t process; /* name id */
} call;

TM_ORDER_BY(by_correlation, call, correlation, process);

static call call_at(const tm_trace *trace, size_t i) {
    const tm_launch_attr *launch = (const tm_launch_attr *)trace->attrs[TM_ATTR_LAUNCH].data + i;
    const tm_raw_event *event = (const tm_raw_event *)trace->events.data + launch->event;
    return (call){launch->correlation, ((const tm_track *)trace->tracks.data)[event->track].pid};
}

bool tm_kineto_is_of_device(const tm_trace *trace, uint32_t process) {
    const tm_track *tracks = trace->tracks.data;
    for (size_t t = 0; t < trace->tracks.n; t++)
        if (tracks[t].kind == TM_TRACK_GPU && tracks[t].pid == process)
            return true;
    return false;
}

/* Returns whether the calls have different processes. This is rare. If all calls have the same
 * process, the ids need not be sorted. */
static bool has_several(const tm_trace *trace, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (call_at(trace, i).process != call_at(trace, 0).process)
            return true;
    return false;
}

static size_t count_shared(const tm_trace *trace, call *calls, size_t n) {
    size_t shared = 0;
    qsort(calls, n, sizeof *calls, by_correlation);
    for (size_t i = 1; i < n; i++)
        shared += calls[i].correlation != 0 && calls[i].correlation == calls[i - 1].correlation &&
                  calls[i].process != calls[i - 1].process &&
                  !tm_kineto_is_of_device(trace, calls[i].process) &&
                  !tm_kineto_is_of_device(trace, calls[i - 1].process);
    return shared;
}

tm_status tm_kineto_one_process(const tm_trace *trace, const tm_names *names, tm_error *err) {
    size_t n = trace->attrs[TM_ATTR_LAUNCH].n;
    if (!has_several(trace, n))
        return TM_OK;
    call *calls = malloc(n * sizeof *calls);
    if (!calls)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        calls[i] = call_at(trace, i);
    size_t shared = count_shared(trace, calls, n);
    free(calls);
    if (shared <= SHARED_MAX)
        return TM_OK;
    return tm_fail(err, TM_ERR_INPUT, tm_names_text(names, trace->source).bytes, -1,
                   "contains the calls of several processes under the same ids, as if traces of "
                   "several ranks were put into one file; give the ranks' own traces");
}
