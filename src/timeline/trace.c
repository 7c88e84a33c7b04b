#include "trace.h"

#include <string.h>

enum { REFS_MAX = 3 };

static const struct {
    size_t size; /* bytes of a row */
    int n_refs;
    size_t refs[REFS_MAX]; /* bytes to its event, and to the other rows that it refers to */
} layouts[TM_N_ATTRS] = {
#define EVENT_ALONE(type)                                                                          \
    {                                                                                              \
        sizeof(type), 1, {                                                                         \
            offsetof(type, event)                                                                  \
        }                                                                                          \
    }
    [TM_ATTR_LAUNCH] = EVENT_ALONE(tm_launch_attr),
    [TM_ATTR_KERNEL] = EVENT_ALONE(tm_kernel_attr),
    [TM_ATTR_COPY] = EVENT_ALONE(tm_copy_attr),
    [TM_ATTR_COLLECTIVE] = EVENT_ALONE(tm_collective_attr),
    [TM_ATTR_MEMORY] = EVENT_ALONE(tm_memory_attr),
    [TM_ATTR_COUNTER] = EVENT_ALONE(tm_counter_attr),
    [TM_ATTR_SHAPES] = EVENT_ALONE(tm_shapes_attr),
#undef EVENT_ALONE
    [TM_ATTR_WAIT] = {sizeof(tm_wait_attr),
                      REFS_MAX,
                      {offsetof(tm_wait_attr, event), offsetof(tm_wait_attr, call),
                       offsetof(tm_wait_attr, record)}},
};

size_t tm_attr_size(tm_attr attr) {
    return layouts[attr].size;
}

int tm_attr_n_refs(tm_attr attr) {
    return layouts[attr].n_refs;
}

uint32_t *tm_attr_ref(tm_attr attr, void *row, int i) {
    return (uint32_t *)(void *)((char *)row + layouts[attr].refs[i]);
}

uint32_t *tm_attr_event(tm_attr attr, void *row) {
    return tm_attr_ref(attr, row, 0);
}

void tm_trace_init(tm_trace *trace) {
    *trace = (tm_trace){
        .rank = -1,
        .world_size = -1,
        .base_ns = -1,
        .events = TM_VEC(tm_raw_event),
        .tracks = TM_VEC(tm_track),
        .communicators = TM_VEC(tm_communicator),
        .handovers = TM_VEC(tm_handover),
    };
    for (int i = 0; i < TM_N_ATTRS; i++)
        trace->attrs[i] = (tm_vec){.size = layouts[i].size};
}

bool tm_trace_holds_transfers_alone(const tm_names *names, uint32_t metadata) {
    return strstr(tm_names_text(names, metadata).bytes, TM_TRANSFERS_ALONE) != NULL;
}

tm_text tm_trace_noted(const tm_names *names, uint32_t metadata, const char *what) {
    const char *text = strstr(tm_names_text(names, metadata).bytes, what);
    text = text ? text + strlen(what) : "";
    return (tm_text){text, strcspn(text, "\"\\")};
}

bool tm_trace_lacks_base(const tm_trace *trace) {
    /* Relative times are below three months, absolute ones are of this century. */
    const int64_t relative_max_ns = INT64_C(100000000000000000);
    return trace->truncated && trace->base_ns < 0 && trace->counts[TM_COUNT_NO_EPOCH] == 0 &&
           trace->events.n > 0 &&
           ((const tm_raw_event *)trace->events.data)->begin_ns < relative_max_ns;
}

void tm_trace_adopt_base(tm_trace *trace, int64_t base_ns) {
    tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->events.n; i++)
        events[i].begin_ns += base_ns;
    trace->base_ns = base_ns;
    trace->counts[TM_COUNT_ADOPTED_BASE] = (int64_t)trace->events.n;
}

int64_t tm_trace_skipped(const tm_trace *trace) {
    const int64_t *c = trace->counts;
    return c[TM_COUNT_NO_TIME] + c[TM_COUNT_NEGATIVE_DURATION] + c[TM_COUNT_ABSURD_DURATION] +
           c[TM_COUNT_OTHER_PHASE] + c[TM_COUNT_OPEN_RANGE];
}

void tm_trace_trim(tm_trace *trace) {
    tm_vec_trim(&trace->events);
    tm_vec_trim(&trace->tracks);
    for (int i = 0; i < TM_N_ATTRS; i++)
        tm_vec_trim(&trace->attrs[i]);
}

void tm_trace_free(tm_trace *trace) {
    tm_vec_free(&trace->events);
    tm_vec_free(&trace->tracks);
    tm_vec_free(&trace->communicators);
    tm_vec_free(&trace->handovers);
    for (int i = 0; i < TM_N_ATTRS; i++)
        tm_vec_free(&trace->attrs[i]);
}

bool tm_category_is_gpu(tm_category category) {
    return category == TM_CAT_KERNEL || category == TM_CAT_MEMCPY || category == TM_CAT_MEMSET ||
           category == TM_CAT_GPU_ANNOTATION || category == TM_CAT_CUDA_SYNC ||
           category == TM_CAT_CUDA_EVENT;
}

uint32_t tm_trace_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid) {
    tm_track *tracks = trace->tracks.data;
    for (size_t i = trace->tracks.n; i-- > 0;)
        if (tracks[i].pid == pid && tracks[i].tid == tid && tracks[i].kind == kind)
            return (uint32_t)i;
    tm_track *track = tm_vec_push(&trace->tracks);
    if (!track)
        return UINT32_MAX;
    *track = (tm_track){.kind = (uint8_t)kind, .device = -1, .stream = -1, .pid = pid, .tid = tid};
    return (uint32_t)(trace->tracks.n - 1);
}
