#include "trace.h"

#include <string.h>

#include "base/hash.h"

enum { REFS_MAX = 3 };

_Static_assert(sizeof(tm_launch_shape) == 44, "without padding: shapes are told apart by bytes");

static const struct {
    size_t size; /* bytes of a row */
    int n_refs;
    /* Offsets of the members of a row that are indices of events. The first one is the row's own
     * event. The others are events to which the row refers. */
    size_t refs[REFS_MAX];
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
    [TM_ATTR_INPUTS] = EVENT_ALONE(tm_inputs_attr),
    [TM_ATTR_XLA] = EVENT_ALONE(tm_xla_attr),
    [TM_ATTR_UNIFIED] = EVENT_ALONE(tm_unified_attr),
#undef EVENT_ALONE
    [TM_ATTR_WAIT] = {sizeof(tm_wait_attr),
                      REFS_MAX,
                      {offsetof(tm_wait_attr, event), offsetof(tm_wait_attr, call),
                       offsetof(tm_wait_attr, record)}},
    [TM_ATTR_OPERATOR] = {sizeof(tm_operator_attr),
                          2,
                          {offsetof(tm_operator_attr, event), offsetof(tm_operator_attr, forward)}},
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
        .track_slots = TM_VEC(uint32_t),
        .lists = TM_VEC(uint32_t),
        .communicators = TM_VEC(tm_communicator),
        .handovers = TM_VEC(tm_handover),
        .shapes = TM_KEYS(tm_launch_shape),
    };
    for (int i = 0; i < TM_N_ATTRS; i++)
        trace->attrs[i] = (tm_vec){.size = layouts[i].size};
}

bool tm_timeline_lacks_compute(const tm_timeline *timeline) {
    return timeline->metadata && strstr(timeline->metadata, TM_COMPUTE_UNKNOWN) != NULL;
}

bool tm_trace_holds_transfers_alone(tm_text metadata) {
    return strstr(metadata.bytes, TM_TRANSFERS_ALONE) != NULL;
}

tm_text tm_trace_noted(tm_text metadata, const char *what) {
    const char *text = strstr(metadata.bytes, what);
    text = text ? text + strlen(what) : "";
    return (tm_text){text, strcspn(text, "\"\\")};
}

bool tm_trace_lacks_base(const tm_trace *trace) {
    /* Times relative to a base are below three months. Times since the epoch are far above. */
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
           c[TM_COUNT_OTHER_PHASE] + c[TM_COUNT_OPEN_RANGE] + c[TM_COUNT_UNKNOWN_WORK_TIME] +
           c[TM_COUNT_UNKNOWN_TIME];
}

static void reserve_like(tm_vec *rows, const tm_vec *like, double factor) {
    (void)tm_vec_reserve(rows, (size_t)((double)like->n * factor));
}

void tm_trace_reserve(tm_trace *trace, const tm_trace *like, double factor) {
    reserve_like(&trace->events, &like->events, factor);
    for (int i = 0; i < TM_N_ATTRS; i++)
        reserve_like(&trace->attrs[i], &like->attrs[i], factor);
}

void tm_trace_trim(tm_trace *trace) {
    tm_vec_trim(&trace->events);
    tm_vec_trim(&trace->tracks);
    tm_vec_free(&trace->track_slots);
    for (int i = 0; i < TM_N_ATTRS; i++)
        tm_vec_trim(&trace->attrs[i]);
}

void tm_trace_free(tm_trace *trace) {
    TM_VECS_FREE(&trace->events, &trace->tracks, &trace->track_slots, &trace->communicators,
                 &trace->handovers, &trace->lists);
    tm_keys_free(&trace->shapes);
    for (int i = 0; i < TM_N_ATTRS; i++)
        tm_vec_free(&trace->attrs[i]);
}

bool tm_trace_add_kernel(tm_trace *trace, uint32_t event, int64_t correlation,
                         const tm_launch_shape *shape) {
    const tm_launch_shape bare = tm_launch_shape_bare();
    const tm_kernel_attr attr = {correlation, event,
                                 tm_keys_add(&trace->shapes, shape ? shape : &bare)};
    return attr.shape != TM_NO_KEY && tm_vec_append(&trace->attrs[TM_ATTR_KERNEL], &attr, 1);
}

bool tm_category_is_gpu(tm_category category) {
    return category == TM_CAT_KERNEL || category == TM_CAT_MEMCPY || category == TM_CAT_MEMSET ||
           category == TM_CAT_GPU_ANNOTATION || category == TM_CAT_CUDA_SYNC ||
           category == TM_CAT_CUDA_EVENT;
}

static bool is_track(const tm_track *track, tm_track_kind kind, uint32_t pid, uint32_t tid) {
    return track->pid == pid && track->tid == tid && track->kind == kind;
}

/* Returns the slot of a track in the hash table; the free slot for the track if it is new. */
static uint32_t *slot_of(const tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid) {
    const tm_track *tracks = trace->tracks.data;
    uint32_t *slots = trace->track_slots.data;
    size_t mask = trace->track_slots.n - 1;
    const uint64_t words[] = {(uint64_t)pid << 32 | tid, (uint64_t)kind};
    size_t at = (size_t)tm_hash_words(0, words, 2) & mask;
    while (slots[at] && !is_track(&tracks[slots[at] - 1], kind, pid, tid))
        at = (at + 1) & mask;
    return &slots[at];
}

/* Gives every track a slot. Returns false if there are few tracks, because then a linear search is
 * faster, or if out of memory. */
static bool make_slots(tm_trace *trace) {
    enum { FEW = 32 };
    const tm_track *tracks = trace->tracks.data;
    size_t n = trace->tracks.n;
    if (n <= FEW)
        return false;
    if (trace->track_slots.n < 2 * n ||
        trace->n_slotted > n) { /* the table is too small, or tracks were removed */
        size_t size = FEW;
        while (size < 4 * n)
            size *= 2;
        tm_vec slots = TM_VEC(uint32_t);
        if (!tm_vec_append(&slots, NULL, size))
            return false;
        memset(slots.data, 0, size * slots.size);
        tm_vec_free(&trace->track_slots);
        trace->track_slots = slots;
        trace->n_slotted = 0;
    }
    for (; trace->n_slotted < n; trace->n_slotted++) {
        const tm_track *t = &tracks[trace->n_slotted];
        *slot_of(trace, (tm_track_kind)t->kind, t->pid, t->tid) = (uint32_t)trace->n_slotted + 1;
    }
    return true;
}

uint32_t tm_trace_find_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid) {
    const tm_track *tracks = trace->tracks.data;
    if (make_slots(trace))
        return *slot_of(trace, kind, pid, tid) - 1; /* if the slot is free, this is 0 - 1 =
                                                       UINT32_MAX */
    for (size_t i = trace->tracks.n; i-- > 0;)
        if (is_track(&tracks[i], kind, pid, tid))
            return (uint32_t)i;
    return UINT32_MAX;
}

uint32_t tm_trace_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid) {
    uint32_t known = tm_trace_find_track(trace, kind, pid, tid);
    if (known != UINT32_MAX)
        return known;
    tm_track *track = tm_vec_push(&trace->tracks);
    if (!track)
        return UINT32_MAX;
    *track = (tm_track){.kind = (uint8_t)kind, .device = -1, .stream = -1, .pid = pid, .tid = tid};
    return (uint32_t)(trace->tracks.n - 1);
}
