/* A rank's recorded events, from which its graph is built: GPU events in the order of their
 * launches, and calls that launched or waited for a GPU event in the order of their starts. */
#ifndef TMERGE_REPLAY_RANK_EVENTS_H
#define TMERGE_REPLAY_RANK_EVENTS_H

#include "base/vec.h"
#include "call_class.h"
#include "timebase.h"
#include "tmerge/timeline.h"

#define TM_NO_PART UINT32_MAX

/** A GPU event. Times are in ns since the root, on the job's clock. */
typedef struct tm_part_event {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t call;   /* index of the call that launched the event, or TM_NO_PART */
    uint32_t before; /* index of the previous event on its stream (by start), or TM_NO_PART */
    uint32_t stream; /* index of its track */
    uint32_t nth; /* occurrence index (0-based) of its name in its step, in the order of launches */
    int32_t step; /* index into the timeline's steps, TM_NO_STEP for none */
    bool last;    /* last event of its step on its stream, or still running when the stream's next
                     event starts */
} tm_part_event;

typedef struct tm_part_call {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t thread;   /* index of its track */
    uint32_t launched; /* index of the first event that the call launched, or TM_NO_PART */
    uint32_t nth;      /* occurrence index (0-based) of its name in its step */
    int32_t step;
    uint8_t kind; /* tm_call_class_kind */
} tm_part_call;

/** Flag of a span: a call that may wait for the device before it does work of its own. */
enum { TM_SPAN_MAY_WAIT = 128 };

/** A time in which a thread does something known: an annotation, or a call of class
 * TM_CALL_MAY_WAIT. */
typedef struct tm_part_span {
    int64_t begin_ns, end_ns;
    uint32_t row;
    uint32_t thread; /* index of its track */
    uint8_t flags;   /* TM_EDGE_INPUT, TM_EDGE_GC or TM_SPAN_MAY_WAIT */
} tm_part_span;

/** A call that makes a stream wait. */
typedef struct tm_part_pause {
    int64_t begin_ns;
    uint32_t row;
} tm_part_pause;

/** How often a name occurs in a step: GPU events, and calls that launched no event. */
typedef struct tm_part_count {
    uint32_t name;
    int32_t step;
    uint32_t n;
} tm_part_count;

/** GPU work before the rank's first step: see TM_STEP_LEAD_IN. */
typedef struct tm_warm_up {
    int64_t step; /* number of the rank's first step that has a GPU event; INT64_MAX if there is
                     none */
    bool any;     /* before that step, GPU events were launched that belong to no step */
    bool joined;  /* one of these events still runs when the step starts: the recording started in
                     the middle of the work */
} tm_warm_up;

typedef struct tm_draft {
    const tm_timeline *timeline; /* borrowed */
    int64_t
        stage; /* pipeline stage, -1 for none; set by the caller. Stages run different programs */
    tm_vec events;       /* of tm_part_event */
    tm_vec calls;        /* of tm_part_call */
    tm_vec stream_waits; /* of tm_part_pause, ascending in begin */
    tm_vec spans;        /* of tm_part_span, by thread, ascending in begin */
    tm_vec counts;       /* of tm_part_count */
    bool syncs;          /* the trace records when calls wait for the GPU, from the first GPU event
                            on */
    tm_warm_up before;   /* GPU work before the first step */
    bool warm_up;        /* the first step counts from the end of the warm-up; set by the caller */
} tm_draft;

/**
 * Collects the recorded events of a rank.
 *
 * @param base  origin of times
 * @return      TM_OK; TM_ERR_FAULT; free it in either case
 */
tm_status tm_draft_make(const tm_timeline *timeline, tm_call_classes *classes,
                        const tm_timebase *base, tm_draft *out, tm_error *err) TM_MUST_CHECK;
void tm_draft_free(tm_draft *draft);

/**
 * Replaces the times by those of another rank, whose columns differ from the first rank's only in
 * times.
 * @param draft  made for the first rank
 * @return       whether this rank's times give the same order of events; if not, the draft is
 *               invalid until the next successful call
 */
bool tm_draft_take(tm_draft *draft, const tm_timeline *timeline, const tm_timebase *base);

/** Like tm_draft_take, for a rank for which tm_draft_take returned true before.
 * @param before  value of draft->before after that call */
void tm_draft_take_again(tm_draft *draft, const tm_timeline *timeline, const tm_timebase *base,
                         tm_warm_up before);

/** Returns a row's start in replay time [ns]. */
static inline int64_t tm_draft_begin(const tm_timeline *timeline, uint32_t row,
                                     const tm_timebase *base) {
    return tm_timebase_of(base, tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]));
}

/** Returns a row's end in replay time [ns], given its start. */
static inline int64_t tm_draft_end(const tm_timeline *timeline, uint32_t row, int64_t begin_ns,
                                   const tm_timebase *base) {
    const int64_t ns = timeline->duration_ns[row];
    if (base->cuts.n == 0)
        return begin_ns + ns;
    return tm_timebase_of(base, tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]) + ns);
}

/** Returns whether an event belongs to no step and was launched before the first step. */
bool tm_warm_up_has(const tm_draft *draft, const tm_part_event *event);

/** Returns the index of the event that was launched first in the earliest step with events, or
 * TM_NO_PART. */
uint32_t tm_warm_up_after(const tm_draft *draft);

/** Returns a key of an event's name and occurrence index. It is equal on all ranks that run the
 * same program. */
uint64_t tm_draft_position(const tm_timeline *timeline, uint32_t row, uint32_t nth);

#endif
