/* What a reader makes of one input file: events in file order, before they are sorted by track. */
#ifndef TMERGE_TRACE_H
#define TMERGE_TRACE_H

#include "base/keys.h"
#include "base/vec.h"
#include "tmerge/timeline.h"

/** No recording is as long: durations beyond it are mistakes, and so are begins that are farther
 * than this from the others of their trace. */
#define TM_DAY_NS INT64_C(86400000000000)

/** Stands in the metadata of a rank whose trace holds, of communication, the transfer alone: its
 * kernels begin when the last of their ranks has come, whenever their own did. */
#define TM_TRANSFERS_ALONE "\"communication\":\"transfers alone\""

/** Whether that stands there. */
bool tm_trace_holds_transfers_alone(tm_text metadata);

/** Stands in the metadata of a rank of which nothing but communication is recorded: what it
 * computes, and when it does nothing, is not known. */
#define TM_COMPUTE_UNKNOWN "\"compute\":\"not recorded\""

/** What a reader adds to the metadata of a rank, before a text and a quote: the word for one of its
 * devices where they are no GPUs (NPU, TPU, XPU); and the categories of which it could not tell
 * whether they are work of a device, with their numbers of events. */
#define TM_DEVICE_KIND "\"device_kind\":\""
#define TM_OTHER_CATEGORIES "\"other_categories\":\""

/** Likewise, of a rank whose profiler has reports of its own that sum calls, kernels and ranges by
 * name: the program that makes them. */
#define TM_REPORTED_BY "\"reported_by\":\""

/** Ends the `tid` of a track of what a thread ran on, which stands beside the thread's own. */
#define TM_ON_CPU " on CPU"

/** The text behind one of these; empty where the metadata have none. */
tm_text tm_trace_noted(tm_text metadata, const char *what);

/** Stands in the metadata of a rank whose times of the device are by a clock of the device's own,
 * which differs from those of the other devices of its host. */
#define TM_OWN_CLOCK "\"clock\":\"the device's own\""

/** Stands in the metadata of a rank whose trace was exported together with those of other ranks, on
 * whatever hosts these ran: the times of one such file are all on one clock. */
#define TM_FILE_CLOCK "\"clock\":\"the file's\""

/** One event as read. begin_ns lacks the trace's base time until the reader has finished. */
typedef struct tm_raw_event {
    int64_t begin_ns, duration_ns;
    uint32_t name;
    uint32_t track;   /* index into the trace's tracks */
    uint8_t category; /* tm_category */
    uint8_t kind;     /* tm_event_kind */
    uint32_t launch;  /* index of the call that launched it, set by tm_trace_link */
} tm_raw_event;

_Static_assert(sizeof(tm_raw_event) == 32, "an event in the making takes 32 bytes");

/** A call that a thread made for another: that put it into a queue, and this took it from there. */
typedef struct tm_handover {
    uint32_t call, by; /* events; `by` becomes the launch of `call` */
} tm_handover;

/** The content of one file. Attribute rows refer to events by index; both are in file order. */
typedef struct tm_trace {
    uint32_t source;    /* name id of the path as given */
    uint32_t format;    /* name id of the reader's name */
    uint32_t host;      /* name id, TM_NO_NAME where the trace does not say */
    uint32_t metadata;  /* name id of the top-level JSON without traceEvents, and without */
    tm_vec lists;       /* its lists (metadata.h): of uint32_t, name ids */
    int64_t rank;       /* -1 where the trace does not say */
    int64_t world_size; /* -1 where the trace does not say */
    int64_t base_ns; /* what its times are relative to, already added; -1 where it does not say */
    const char *device_categories; /* borrowed while it is read: of tm_trace_file */
    bool truncated;
    bool is_fused; /* several ranks were put into the file, as it told at its end: nothing was kept,
                      and list_units tells them */
    bool left_out; /* by tm_timeline_build: it overlaps an earlier one of its rank */
    int64_t counts[TM_N_COUNTS];
    tm_vec events;            /* of tm_raw_event */
    tm_vec tracks;            /* of tm_track, without first and count */
    tm_vec track_slots;       /* of uint32_t: tracks + 1 by hash, 0 is free; for tm_trace_track */
    size_t n_slotted;         /* tracks that have a slot */
    tm_vec attrs[TM_N_ATTRS]; /* of tm_launch_attr, ... */
    tm_keys shapes;           /* of tm_launch_shape: those of the kernels */
    tm_vec communicators;     /* of tm_communicator, in any order */
    tm_vec handovers;         /* of tm_handover; until tm_trace_link */
} tm_trace;

void tm_trace_init(tm_trace *trace);

/**
 * Whether the times are relative to a base that was cut off: until 2025 profilers wrote it behind
 * the events. Its processes of one job start in the same three months and so share their base.
 * Of traces that never tell one (TM_COUNT_NO_EPOCH) nothing is lacking.
 */
bool tm_trace_lacks_base(const tm_trace *trace);

/** Moves every begin by @p base_ns, in [0, 3e18], and counts the events. */
void tm_trace_adopt_base(tm_trace *trace, int64_t base_ns);

/** How many timed events were read and not kept. */
int64_t tm_trace_skipped(const tm_trace *trace);

/** Gives back the room that growing left over: a third, in the worst case. */
void tm_trace_trim(tm_trace *trace);

/** Frees the rows; what the trace says of itself stays readable. */
void tm_trace_free(tm_trace *trace);

/** Bytes of one row of an attribute table. */
size_t tm_attr_size(tm_attr attr);

/** The event row of an attribute row; the field stands at another place in each type. */
uint32_t *tm_attr_event(tm_attr attr, void *row);

/** How many rows of events an attribute row refers to: its own, and of a wait two more. */
int tm_attr_n_refs(tm_attr attr);

/** Reference @p i: 0 is tm_attr_event, the others may be TM_NO_EVENT. */
uint32_t *tm_attr_ref(tm_attr attr, void *row, int i);

/**
 * The track of these keys, new or known; for readers, which have most events in long runs of one
 * track and should remember the last.
 *
 * @param gpu  a device's streams and a process's threads are never the same track, whatever the
 *             numbers: in containers a process id can equal a device number
 * @return     its index, or UINT32_MAX when memory is out
 */
uint32_t tm_trace_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid);

/** The same of a known track; UINT32_MAX where there is none. */
uint32_t tm_trace_find_track(tm_trace *trace, tm_track_kind kind, uint32_t pid, uint32_t tid);

/**
 * Finds for every GPU event the call that launched it: the runtime or driver call with the same
 * correlation id, the earliest where several have it; likewise the calls of every wait. Ids are
 * unique within one trace alone, so this comes before traces are joined. A call that was handed
 * over gets the call that did so, an operator of the backward pass its forward operator. TM_OK;
 * TM_ERR_FAULT.
 */
tm_status tm_trace_link(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/**
 * Finds for every operator of the backward pass that bears autograd's number the forward operator
 * that does. TM_OK; TM_ERR_FAULT.
 */
tm_status tm_trace_link_backward(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/**
 * Leaves out the events of a linked trace whose time the profiler did not know, and counts them:
 * what lies a year from the rest, what begins at the zero of its clock or before it where nothing
 * else is near, and GPU work without a duration where the clock would have told a short one. TM_OK;
 * TM_ERR_FAULT.
 */
tm_status tm_trace_drop_unknown(tm_trace *trace, tm_error *err) TM_MUST_CHECK;

/** Whether an event is of what the device did, or what a profiler makes of that. */
static inline bool tm_event_is_of_device(const tm_raw_event *event) {
    return event->category == TM_CAT_KERNEL || event->category == TM_CAT_MEMCPY ||
           event->category == TM_CAT_MEMSET || event->category == TM_CAT_GPU_ANNOTATION ||
           event->category == TM_CAT_CUDA_SYNC;
}

/** Leaves out what the device did beyond a moment, and counts it likewise: what would last until
 * another recording of the rank had begun ended when nobody knows. TM_OK; TM_ERR_FAULT. */
tm_status tm_trace_drop_endless(tm_trace *trace, int64_t end_ns, tm_error *err) TM_MUST_CHECK;

/** A launch of which nothing is recorded. */
static inline tm_launch_shape tm_launch_shape_bare(void) {
    return (tm_launch_shape){.grid = {-1, -1, -1},
                             .block = {-1, -1, -1},
                             .registers = -1,
                             .shared_memory_bytes = -1,
                             .blocks_per_sm = NAN,
                             .warps_per_sm = NAN,
                             .occupancy_pct = NAN};
}

/** Adds a row of TM_ATTR_KERNEL for an event. False when memory is out.
 * @param shape  NULL: a bare one */
bool tm_trace_add_kernel(tm_trace *trace, uint32_t event, int64_t correlation,
                         const tm_launch_shape *shape);

/** A row of a collective in which nothing is recorded. */
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

/** True for the categories whose events lie on a device's streams. */
bool tm_category_is_gpu(tm_category category);

#endif
