/* A reader's output for one input file: events in file order, not yet sorted by track. */
#ifndef TMERGE_TRACE_H
#define TMERGE_TRACE_H

#include "base/keys.h"
#include "base/vec.h"
#include "tmerge/timeline.h"

/** Maximum length of a recording. Longer durations, and starts further than this from other starts
 * of the trace, are errors. */
#define TM_DAY_NS INT64_C(86400000000000)

/** Metadata entry of a rank whose trace has only the transfer part of communication: a kernel's
 * recorded start is the time at which the last rank arrived, even if the kernel waited before. */
#define TM_TRANSFERS_ALONE "\"communication\":\"transfers alone\""

/** Returns whether the metadata has the entry TM_TRANSFERS_ALONE. */
bool tm_trace_holds_transfers_alone(tm_text metadata);

/** Metadata entry of a rank for which only communication was recorded. Its computation and idle
 * times are unknown. */
#define TM_COMPUTE_UNKNOWN "\"compute\":\"not recorded\""

/** Entries that a reader adds to a rank's metadata. A text and a quote follow. TM_DEVICE_KIND: the
 * word for the rank's devices if they are not GPUs (NPU, TPU, XPU). TM_OTHER_CATEGORIES: categories
 * that may be device work, with their numbers of events. */
#define TM_DEVICE_KIND "\"device_kind\":\""
#define TM_OTHER_CATEGORIES "\"other_categories\":\""

/** Entry that a reader adds to a rank's metadata: the profiler's own program that prints summaries
 * of calls, kernels and ranges by name. The program's name and a quote follow. */
#define TM_REPORTED_BY "\"reported_by\":\""

/** Suffix of the `tid` of a thread's additional track, which shows the CPUs on which the thread
 * ran. */
#define TM_ON_CPU " on CPU"

/** Returns the text after an entry such as TM_DEVICE_KIND; empty if there is no such entry. */
tm_text tm_trace_noted(tm_text metadata, const char *what);

/** Metadata entry of a rank whose device times are times of the device's own clock. The host's
 * other devices have other clocks. */
#define TM_OWN_CLOCK "\"clock\":\"the device's own\""

/** Metadata entry of a rank whose trace is in an exported file of several ranks. All times in the
 * file are times of one clock, even if the ranks are on several hosts. */
#define TM_FILE_CLOCK "\"clock\":\"the file's\""

/** An event as read. Until the reader finishes, begin_ns is relative to the trace's base time. */
typedef struct tm_raw_event {
    int64_t begin_ns, duration_ns;
    uint32_t name;
    uint32_t track;   /* index into the trace's tracks */
    uint8_t category; /* tm_category */
    uint8_t kind;     /* tm_event_kind */
    uint32_t launch;  /* index of the launching call; set by tm_trace_link */
} tm_raw_event;

_Static_assert(sizeof(tm_raw_event) == 32, "an event in the making takes 32 bytes");

/** A call that one thread queued and another thread made. */
typedef struct tm_handover {
    /* Indices of two events: `by` is the call that queued the call `call`. `by` becomes the launch
     * of `call`. */
    uint32_t call, by;
} tm_handover;

/** The content of a file. Attribute rows refer to events by index. Attribute rows and events are in
 * file order. */
typedef struct tm_trace {
    uint32_t source;    /* name id of the path as given */
    uint32_t format;    /* name id of the reader's name */
    uint32_t host;      /* name id; TM_NO_NAME: not in the trace */
    uint32_t metadata;  /* name id of the top-level JSON values, without traceEvents and without the
                           lists */
    tm_vec lists;       /* vector of uint32_t: name ids of the lists of the metadata (metadata.h) */
    int64_t rank;       /* -1: not in the trace */
    int64_t world_size; /* -1: not in the trace */
    int64_t base_ns;    /* base time, already added to the times; -1: not in the trace */
    const char *device_categories; /* borrowed from tm_trace_file; used only during reading */
    bool truncated;
    bool is_fused; /* The file has several ranks, but only its end showed this. No events were kept.
                      list_units lists the ranks of such a file. */
    bool left_out; /* set by tm_timeline_build: the trace overlaps an earlier trace of its rank and
                      was left out */
    int64_t counts[TM_N_COUNTS];
    tm_vec events; /* vector of tm_raw_event */
    tm_vec tracks; /* vector of tm_track, without first and count */
    /* vector of uint32_t: hash table for tm_trace_track. A slot contains 1 + the index of a track,
     * or 0 if it is free. */
    tm_vec track_slots;
    size_t n_slotted;         /* tracks in track_slots */
    tm_vec attrs[TM_N_ATTRS]; /* vector of rows, such as tm_launch_attr */
    tm_keys shapes; /* keys of type tm_launch_shape: distinct launch parameters of the kernels */
    tm_vec communicators; /* vector of tm_communicator, in any order */
    tm_vec handovers;     /* vector of tm_handover; used by tm_trace_link */
} tm_trace;

void tm_trace_init(tm_trace *trace);

/** Returns whether the trace's times lack their base because the file was truncated: until 2025,
 * profilers wrote the base after the events. (A base is the start of a period of three months, so
 * that the processes of a job have the same one.) False for traces that never have a base
 * (TM_COUNT_NO_EPOCH). */
bool tm_trace_lacks_base(const tm_trace *trace);

/** Adds @p base_ns, in [0, 3e18], to every start. Counts the events in TM_COUNT_ADOPTED_BASE. */
void tm_trace_adopt_base(tm_trace *trace, int64_t base_ns);

/** Returns how many timed events were read but not kept. */
int64_t tm_trace_skipped(const tm_trace *trace);

/** Reserves memory for as many rows as a similar trace has, times @p factor. Does nothing if there
 * is too little memory. */
void tm_trace_reserve(tm_trace *trace, const tm_trace *like, double factor);

/** Frees memory that is reserved for rows but unused: up to a third of the trace's memory. */
void tm_trace_trim(tm_trace *trace);

/** Frees the rows; the other fields stay readable. */
void tm_trace_free(tm_trace *trace);

/** Returns the size [B] of a row of an attribute table. */
size_t tm_attr_size(tm_attr attr);

/** Returns a pointer to the member of an attribute row that is the index of the row's own event. */
uint32_t *tm_attr_event(tm_attr attr, void *row);

/** Returns the number of events to which a row of this table refers. Rows of some tables refer to
 * other events besides their own event. */
int tm_attr_n_refs(tm_attr attr);

/** Returns reference @p i of a row: 0 is tm_attr_event; the others may be TM_NO_EVENT. */
uint32_t *tm_attr_ref(tm_attr attr, void *row, int i);

/**
 * Finds or adds the track with these keys. Readers should remember the last track, because most
 * events are on the track of the previous event.
 *
 * @param kind  GPU streams and threads never share a track. The kind is needed, because in
 *              containers a process id can be equal to a device number
 * @return      index of the track; UINT32_MAX if out of memory
 */
uint32_t tm_trace_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid);

/** Returns the index of a track; UINT32_MAX if it does not exist. */
uint32_t tm_trace_find_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid);

/**
 * Links the events of a trace:
 * - a GPU event to the call that launched it. This is the runtime or driver call with the same
 *   correlation id. If there are several, it is the earliest one;
 * - a wait to the call that waits, and to the call that recorded the CUDA event for which it waits;
 * - a call made for another thread to the call that queued it;
 * - a backward operator to its forward operator.
 * Ids are unique only within a trace, so link traces before you join them.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_link(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the forward operator of every backward operator by autograd's sequence number.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_link_backward(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/**
 * Removes and counts events whose time the profiler did not know:
 * - events that are a year away from the others;
 * - events at or before the clock's zero, if no other events are near;
 * - GPU work without a duration, if the clock can measure short durations.
 * The trace must be linked.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_drop_unknown(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/** Returns whether an event is device work, or was derived from device work by a profiler. */
static inline bool tm_event_is_of_device(const tm_raw_event *event) {
    return event->category == TM_CAT_KERNEL || event->category == TM_CAT_MEMCPY ||
           event->category == TM_CAT_MEMSET || event->category == TM_CAT_GPU_ANNOTATION ||
           event->category == TM_CAT_CUDA_SYNC;
}

/**
 * Removes and counts device events that end after @p end_ns, at which another recording of the rank
 * starts: their true end is unknown.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_trace_drop_endless(tm_trace *trace, int64_t end_ns, tm_error *err) TM_MUST_CHECK;

/** Returns a launch shape with nothing recorded. */
static inline tm_launch_shape tm_launch_shape_bare(void) {
    return (tm_launch_shape){.grid = {-1, -1, -1},
                             .block = {-1, -1, -1},
                             .registers = -1,
                             .shared_memory_bytes = -1,
                             .blocks_per_sm = NAN,
                             .warps_per_sm = NAN,
                             .occupancy_pct = NAN};
}

/** Adds a row of TM_ATTR_KERNEL for an event. Returns false if out of memory.
 * @param shape  launch shape of the kernel; NULL: nothing about it was recorded */
bool tm_trace_add_kernel(tm_trace *trace, uint32_t event, int64_t correlation,
                         const tm_launch_shape *shape);

/** Returns a row of a collective with nothing recorded. */
static inline tm_collective_attr tm_collective_bare(uint32_t event) {
    return (tm_collective_attr){
        .event = event,
        .seq = -1,
        .in_elements = -1,
        .out_elements = -1,
        .wait_ns = -1,
        .exposed_ns = -1,
        .call_bytes = -1,
        .first_rank = -1,
        .group_size = -1,
        .rank_start = -1,
        .rank_stride = -1,
        .src_rank = -1,
        .dst_rank = -1,
    };
}

/** Returns whether events of a category are on a device's streams. */
bool tm_category_is_gpu(tm_category category);

#endif
