/* A rank's recorded events, from which its graph is built: GPU events in the order of their
 * launches, and calls that launched or waited for a GPU event in the order of their starts. */
#ifndef TMERGE_REPLAY_RANK_EVENTS_H
#define TMERGE_REPLAY_RANK_EVENTS_H

#include "base/vec.h"
#include "call_class.h"
#include "timebase.h"
#include "tmerge/timeline.h"

#define TM_NO_PART UINT32_MAX

/** A GPU event. Times are replay times [ns] (timebase.h). */
typedef struct tm_part_event {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t call;   /* index of the call that launched the event, or TM_NO_PART */
    uint32_t before; /* index of the previous event on the same stream, by start; or TM_NO_PART */
    uint32_t stream; /* index of the event's track */
    uint32_t nth;    /* occurrence index (0-based) of the event's name in the step, in the order of
                        launches. If `stepless` is set: in the recording */
    int32_t step;    /* index in the timeline's steps; TM_NO_STEP if the event belongs to no step */
    bool last; /* the event is the last event of its step on its stream, or it still runs when the
                  stream's next event starts */
} tm_part_event;

typedef struct tm_part_call {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t thread;   /* index of the call's track */
    uint32_t launched; /* index of the first event that the call launched, or TM_NO_PART */
    uint32_t nth; /* occurrence index (0-based) of the call's name in the step; set only if the call
                     launched no event */
    int32_t step;
    uint8_t kind; /* tm_call_class_kind */
} tm_part_call;

/** Flag of a span that is a call. The call may wait for the device before it does work of its
 * own. */
enum { TM_SPAN_MAY_WAIT = 128 };

/** A time range in which it is known what a thread does. It is an annotation, or a call of class
 * TM_CALL_MAY_WAIT. */
typedef struct tm_part_span {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t thread; /* index of the span's track */
    uint8_t flags;   /* TM_EDGE_INPUT, TM_EDGE_GC or TM_SPAN_MAY_WAIT */
} tm_part_span;

/** A call that makes a stream wait. */
typedef struct tm_part_pause {
    int64_t begin_ns;
    uint32_t row;
} tm_part_pause;

/** How often a name occurs in a step: as a GPU event, or as a call that launched no event. */
typedef struct tm_part_count {
    uint32_t name;
    int32_t step;
    uint32_t n;
} tm_part_count;

/** GPU work before the rank's first step. See TM_STEP_WARM_UP. */
typedef struct tm_warm_up {
    int64_t step; /* number of the rank's first step that has a GPU event; INT64_MAX if there is
                     none */
    bool any; /* GPU events that belong to no step were launched before the timeline's first step */
    bool joined; /* one of these events still runs when the timeline's first step starts. The
                    recording then started in the middle of the work */
} tm_warm_up;

typedef struct tm_graph_input {
    const tm_timeline *timeline; /* borrowed */
    tm_call_classes *classes;    /* borrowed */
    int64_t stage; /* pipeline stage, or -1 if there is none; set by the caller. Different stages
                      run different programs */
    tm_vec events; /* vector of tm_part_event */
    tm_vec calls;  /* vector of tm_part_call */
    tm_vec stream_waits; /* vector of tm_part_pause, ascending in begin_ns */
    tm_vec spans;        /* vector of tm_part_span, sorted by thread, then by begin_ns */
    tm_vec counts;       /* vector of tm_part_count */
    int64_t host_ns;     /* added to all times of calls, stream_waits and spans (host_shift.h) */
    bool syncs; /* the trace records when the host waits for the GPU: it contains a waiting call
                   after the first launch */
    tm_warm_up before; /* GPU work before the first step */
    bool of_step;      /* the root is the start of the rank's first step */
    bool stepless; /* other ranks mark no steps, so ranks are compared without regard to steps */
    bool warm_up;  /* the first step counts from the end of the warm-up. Set by the caller */
} tm_graph_input;

/**
 * Collects the recorded events of a rank.
 *
 * @param base  origin of times
 * @return      TM_OK; TM_ERR_FAULT. The caller must free @p out with tm_graph_input_free, even
 *              after an error.
 */
tm_status tm_graph_input_make(const tm_timeline *timeline, tm_call_classes *classes,
                              const tm_timebase *base, tm_graph_input *out,
                              tm_error *err) TM_MUST_CHECK;
void tm_graph_input_free(tm_graph_input *input);

/** Sets `stepless`, and counts occurrences in the recording instead of in steps. False when out of
 * memory. */
bool tm_graph_input_ignore_steps(tm_graph_input *input) TM_MUST_CHECK;

/**
 * Replaces the times in an input by the times of another rank. The columns of the two ranks may
 * differ only in times.
 * @param input  input that was made for the first rank
 * @return       true if the times of the other rank give the same order of events. If false, the
 *               input is invalid until the next successful call.
 */
bool tm_graph_input_take(tm_graph_input *input, const tm_timeline *timeline,
                         const tm_timebase *base);

/** Like tm_graph_input_take, for a rank for which an earlier call of tm_graph_input_take returned
 * true.
 * @param before  value of input->before after the earlier call */
void tm_graph_input_take_again(tm_graph_input *input, const tm_timeline *timeline,
                               const tm_timebase *base, tm_warm_up before);

/** Returns a row's start in replay time [ns]. */
static inline int64_t tm_graph_input_begin(const tm_timeline *timeline, uint32_t row,
                                           const tm_timebase *base) {
    return tm_timebase_of(base, tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]));
}

/** Returns a row's end in replay time [ns], given its start. */
static inline int64_t tm_graph_input_end(const tm_timeline *timeline, uint32_t row,
                                         int64_t begin_ns, const tm_timebase *base) {
    const int64_t ns = timeline->duration_ns[row];
    if (base->cuts.n == 0)
        return begin_ns + ns;
    return tm_timebase_of(base, tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]) + ns);
}

/** Returns whether an event belongs to no step and was launched before the first step. */
bool tm_warm_up_has(const tm_graph_input *input, const tm_part_event *event);

/** Returns the index of the event that was launched first in the earliest step that has events;
 * TM_NO_PART if no step has events. */
uint32_t tm_warm_up_after(const tm_graph_input *input);

/** Returns whether an event is part of a CUDA graph, and not its first event. (Events of one call
 * are next to one another, because events are in the order of launches.) */
static inline bool tm_graph_input_in_graph(const tm_graph_input *input, uint32_t event) {
    const tm_part_event *e = (const tm_part_event *)input->events.data + event;
    return event > 0 && e->call != TM_NO_PART && e[-1].call == e->call;
}

/** Returns a hash of an event's name and occurrence index. The hash is equal on all ranks that run
 * the same program. */
uint64_t tm_graph_input_position(const tm_timeline *timeline, uint32_t row, uint32_t nth);

#endif
